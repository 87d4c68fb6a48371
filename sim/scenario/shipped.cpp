// SPDX-License-Identifier: Apache-2.0
#include "scenario/shipped.hpp"

#include "base/nearest_name.hpp"
#include "scenario/scenario.hpp"
#include "scenario/text_format.hpp"
#include "schema/fabric_profile.pb.h"
#include "schema/framework_profile.pb.h"
#include "schema/gpu_profile.pb.h"
#include "schema/scenario.pb.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <system_error>

namespace orrery {
namespace {

namespace fs = std::filesystem;

constexpr const char* kEnding = ".textproto";
constexpr std::uintmax_t kMaxFile = std::uintmax_t{16} << 20U;

bool is_folder(const fs::path& path) {
    std::error_code error;
    return fs::is_directory(path, error);
}

const std::vector<std::string>& kinds() {
    static const std::vector<std::string> kKinds{"clusters", "fabrics", "frameworks", "gpus",
                                                 "models"};
    return kKinds;
}

/// An empty message of the type that a file of `kind` holds.
std::unique_ptr<google::protobuf::Message> message_of(const std::string& kind) {
    if (kind == "clusters") {
        return std::make_unique<schema::Cluster>();
    }
    if (kind == "fabrics") {
        return std::make_unique<schema::FabricProfile>();
    }
    if (kind == "frameworks") {
        return std::make_unique<schema::FrameworkProfile>();
    }
    if (kind == "gpus") {
        return std::make_unique<schema::GpuProfile>();
    }
    return std::make_unique<schema::Model>();
}

std::string string_field(const google::protobuf::Message& message, const char* name) {
    const auto* field = message.GetDescriptor()->FindFieldByName(name);
    return field == nullptr ? "" : message.GetReflection()->GetString(message, field);
}

}  // namespace

std::string scenarios_folder() {
    if (const char* folder = std::getenv("ORRERY_SCENARIOS");
        folder != nullptr && *folder != '\0') {
        return folder;
    }
    std::error_code error;
    const fs::path executable = fs::read_symlink("/proc/self/exe", error);
    if (!error) {
        const fs::path installed =
            executable.parent_path().parent_path() / "share/orrery/scenarios";
        if (is_folder(installed)) {
            return installed.string();
        }
    }
    return ORRERY_SCENARIOS_FOLDER;
}

Expected<std::string> read_text_file(const std::string& file) {
    std::error_code error;
    if (is_folder(file)) {
        return fail(Diagnostic{.file = file, .message = "is a folder"});
    }
    const std::uintmax_t size = fs::file_size(file, error);
    if (!error && size > kMaxFile) {
        return fail(Diagnostic{.file = file, .message = "is larger than 16 MiB"});
    }
    std::ifstream stream(file, std::ios::binary);
    std::string text;
    if (stream) {
        text.assign(std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>());
    }
    if (!stream) {
        return fail(Diagnostic{.file = file, .message = "cannot be read"});
    }
    return text;
}

bool is_own_file(const std::string& name) {
    return name.ends_with(kEnding);
}

std::string path_beside(const std::string& from, const std::string& path) {
    return fs::absolute(fs::path(from).parent_path() / path).lexically_normal().string();
}

std::vector<std::string> shipped_names(const std::string& kind) {
    std::vector<std::string> names;
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(fs::path(scenarios_folder()) / kind, error)) {
        if (entry.path().extension() == kEnding) {
            names.push_back(entry.path().stem().string());
        }
    }
    std::ranges::sort(names);
    return names;
}

Expected<std::string> find_shipped(const std::string& kind, const std::string& name) {
    if (is_own_file(name)) {
        return name;
    }
    const std::vector<std::string> names = shipped_names(kind);
    if (std::ranges::find(names, name) == names.end()) {
        const std::string one = kind.substr(0, kind.size() - 1);
        return fail(Diagnostic{.message = "there is no " + one + " named \"" + name + "\"",
                               .hint = name_hint(name, names)});
    }
    return (fs::path(scenarios_folder()) / kind / (name + kEnding)).string();
}

Expected<std::vector<Shipped>> list_shipped(const std::string& kind) {
    if (std::ranges::find(kinds(), kind) == kinds().end()) {
        return fail(Diagnostic{.message = "nothing is shipped of kind \"" + kind + "\"",
                               .hint = name_hint(kind, kinds())});
    }
    std::vector<Shipped> list;
    for (const std::string& name : shipped_names(kind)) {
        ORRERY_TRY(file, find_shipped(kind, name));
        ORRERY_TRY(text, read_text_file(file));
        const auto message = message_of(kind);
        if (const Diagnostics errors = parse_text(text, file, *message, nullptr); !errors.empty()) {
            return fail(errors);
        }
        // A framework is listed by the word of training.framework.
        list.push_back(Shipped{.name = kind == "frameworks" ? string_field(*message, "name") : name,
                               .summary = string_field(*message, "summary")});
    }
    return list;
}

}  // namespace orrery
