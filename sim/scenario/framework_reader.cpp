// SPDX-License-Identifier: Apache-2.0
#include "scenario/framework_reader.hpp"

#include "base/nearest_name.hpp"
#include "base/parse_units.hpp"
#include "scenario/message_fields.hpp"
#include "schema/framework_profile.pb.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <string_view>
#include <vector>

namespace orrery {
namespace {

/// Reads constants and collects what is wrong with them.
class ConstantReader {
    template <typename Parse>
    auto take(const schema::Constant& constant, const char* name, Parse parse) {
        auto value = parse(constant.value());
        using Value = typename decltype(value)::value_type;
        if (value && !constant.origin().empty()) {
            return *value;
        }
        const bool is_older = source_->places.contains(source_->prefix + name);
        const std::string path = (is_older ? source_->prefix : "settings.") + name;
        const TextPlace place = source_->places.find(path + ".value");
        errors.push_back(Diagnostic{.file = source_->file,
                                    .line = place.line,
                                    .column = place.column,
                                    .field = path,
                                    .message = value ? "has no origin" : value.error()});
        return Value();
    }

  public:
    explicit ConstantReader(const FrameworkFile& source) : source_(&source) {}

    template <typename Q>
    Q quantity(const schema::Constant& constant, const char* name) {
        return take(constant, name, parse_quantity<Q>);
    }

    double factor(const schema::Constant& constant, const char* name) {
        return take(constant, name, [](std::string_view text) -> tl::expected<double, std::string> {
            double value = 0.0;
            const char* end = text.data() + text.size();
            const auto [stop, error] = std::from_chars(text.data(), end, value);
            if (error != std::errc() || stop != end || !(value > 0.0 && value <= 100.0)) {
                return tl::unexpected<std::string>(
                    "expected a number above 0 and up to 100, got \"" + std::string(text) + "\"");
            }
            return value;
        });
    }

    std::string word(const schema::Constant& constant, const char* name,
                     const std::vector<std::string>& valid) {
        return take(constant, name,
                    [&valid](std::string_view text) -> tl::expected<std::string, std::string> {
                        if (std::ranges::find(valid, text) == valid.end()) {
                            return tl::unexpected<std::string>("\"" + std::string(text) +
                                                               "\" is not a value; " +
                                                               name_hint(text, valid));
                        }
                        return std::string(text);
                    });
    }

    Diagnostics errors;

  private:
    const FrameworkFile* source_;
};

}  // namespace

std::string framework_file_name(const std::string& framework) {
    std::string name = framework == "OTHER" ? "MEGATRON" : framework;
    std::ranges::transform(name, name.begin(), [](char c) {
        return static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    });
    return name;
}

Expected<std::string> find_release(const schema::FrameworkProfile& message,
                                   const std::string& release,
                                   schema::FrameworkSettings& settings) {
    settings = message.settings();
    if (release.empty() || release == message.release()) {
        return std::string("settings.");
    }
    std::vector<std::string> known{message.release()};
    for (int i = 0; i < message.older_size(); ++i) {
        if (message.older(i).name() == release) {
            merge_over(settings, message.older(i).settings());
            return "older[" + std::to_string(i) + "].settings.";
        }
        known.push_back(message.older(i).name());
    }
    return fail(Diagnostic{
        .message = "the profile of " + message.name() + " has no release \"" + release + "\"",
        .hint = name_hint(release, known)});
}

Expected<FrameworkProfile> read_framework(const schema::FrameworkProfile& message,
                                          const schema::FrameworkSettings& settings,
                                          const FrameworkFile& source) {
    ConstantReader read(source);
    FrameworkProfile profile;
    profile.name = message.name();
    profile.release = source.release;
    profile.impl = read.word(settings.impl(), "impl", {"fused", "compiled", "eager"});
    profile.attention_factor = read.factor(settings.attention_factor(), "attention_factor");
    profile.kernel_launch = read.quantity<Seconds>(settings.kernel_launch(), "kernel_launch");
    profile.collective_launch =
        read.quantity<Seconds>(settings.collective_launch(), "collective_launch");
    profile.point_to_point_launch =
        read.quantity<Seconds>(settings.point_to_point_launch(), "point_to_point_launch");
    profile.framework_memory =
        read.quantity<Bytes>(settings.framework_memory(), "framework_memory");
    profile.gemm_workspace = read.quantity<Bytes>(settings.gemm_workspace(), "gemm_workspace");
    profile.communicator_buffer =
        read.quantity<Bytes>(settings.communicator_buffer(), "communicator_buffer");
    if (!read.errors.empty()) {
        return fail(read.errors);
    }
    return profile;
}

}  // namespace orrery
