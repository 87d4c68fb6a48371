// SPDX-License-Identifier: Apache-2.0
#include "calibrate/fit/fit_proto.hpp"

#include "schema/gpu_profile.pb.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>
#include <google/protobuf/text_format.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace orrery {
namespace {

std::string number_text(double value) {
    std::array<char, 32> buffer{};
    const int size = std::snprintf(buffer.data(), buffer.size(), "%.4g", value);
    return {buffer.data(), static_cast<std::size_t>(size)};
}

schema::Provenance::Trust trust_of(const Origin& origin) {
    switch (origin.trust) {
        case Trust::Measured:
            return schema::Provenance::MEASURED;
        case Trust::Datasheet:
            return schema::Provenance::DATASHEET;
        case Trust::Scaled:
            return schema::Provenance::SCALED;
        case Trust::Recalled:
            return schema::Provenance::RECALLED;
        case Trust::Assumed:
            break;
    }
    return schema::Provenance::ASSUMED;
}

template <typename Field>
void write_origin(Field& field, const Origin& origin) {
    field.set_origin(origin.text);
    field.set_trust(trust_of(origin));
}

bool holds_messages(const google::protobuf::Message& message) {
    std::vector<const google::protobuf::FieldDescriptor*> fields;
    message.GetReflection()->ListFields(message, &fields);
    for (const auto* field : fields) {
        if (field->cpp_type() == google::protobuf::FieldDescriptor::CPPTYPE_MESSAGE) {
            return true;
        }
    }
    return false;
}

std::string one_line(const google::protobuf::Message& message) {
    google::protobuf::TextFormat::Printer printer;
    printer.SetSingleLineMode(true);
    printer.SetUseUtf8StringEscaping(true);
    std::string text;
    printer.PrintToString(message, &text);
    return text;
}

void print_message(const google::protobuf::Message& message, const std::string& indent,
                   std::string& text) {
    const auto* reflection = message.GetReflection();
    std::vector<const google::protobuf::FieldDescriptor*> fields;
    reflection->ListFields(message, &fields);
    for (const auto* field : fields) {
        const int count = field->is_repeated() ? reflection->FieldSize(message, field) : 1;
        for (int i = 0; i < count; ++i) {
            text += indent + field->name();
            if (field->cpp_type() != google::protobuf::FieldDescriptor::CPPTYPE_MESSAGE) {
                google::protobuf::TextFormat::Printer printer;
                printer.SetUseUtf8StringEscaping(true);
                std::string value;
                printer.PrintFieldValueToString(message, field, field->is_repeated() ? i : -1,
                                                &value);
                text += ": " + value + "\n";
                continue;
            }
            const auto& child = field->is_repeated()
                                    ? reflection->GetRepeatedMessage(message, field, i)
                                    : reflection->GetMessage(message, field);
            if (holds_messages(child)) {
                text += " {\n";
                print_message(child, indent + "  ", text);
                text += indent + "}\n";
            } else {
                text += " { " + one_line(child) + "}\n";
            }
        }
    }
}

}  // namespace

std::string quantity_text(Seconds value) {
    return number_text(value.si() * 1e6) + " us";
}

std::string quantity_text(BytesPerSecond value) {
    return number_text(value.si() * 1e-9) + " GB/s";
}

std::string quantity_text(FlopPerSecond value) {
    constexpr double kPeta = 1e16;  // from here on four digits of TFLOP/s are not enough
    return value.si() < kPeta ? number_text(value.si() * 1e-12) + " TFLOP/s"
                              : number_text(value.si() * 1e-15) + " PFLOP/s";
}

double rounded(double value) {
    return std::strtod(number_text(value).c_str(), nullptr);
}

void write_quantity(schema::QuantityField& field, const std::string& value, const Origin& origin) {
    field.set_value(value);
    if (origin.sigma > 0.0) {
        field.set_sigma(rounded(origin.sigma));
    }
    write_origin(field, origin);
}

void write_factor(schema::FactorField& field, double value, const Origin& origin) {
    field.set_value(rounded(value));
    if (origin.sigma > 0.0) {
        field.set_sigma(rounded(origin.sigma));
    }
    write_origin(field, origin);
}

void write_count(schema::CountField& field, std::int64_t value, const Origin& origin) {
    field.set_value(value);
    write_origin(field, origin);
}

void write_gemm(schema::GemmFitField& field, Dtype dtype, const GemmFit& fit,
                const Origin& origin) {
    field.set_dtype(std::string(to_string(dtype)));
    field.set_t0(quantity_text(fit.t0));
    field.set_flop_efficiency(rounded(fit.flop_efficiency));
    field.set_byte_efficiency(rounded(fit.byte_efficiency));
    field.set_q(rounded(fit.q));
    if (fit.whole_waves) {
        field.set_whole_waves(true);
    }
    field.set_sigma(rounded(fit.sigma));
    write_origin(field, origin);
}

void write_collective(schema::CollectiveFitField& field, const CollectiveFit& fit,
                      const Origin& origin) {
    field.set_base(quantity_text(fit.base));
    field.set_step(quantity_text(fit.step));
    field.set_bus_bandwidth(quantity_text(fit.bus_bandwidth));
    field.set_sigma(rounded(fit.sigma));
    write_origin(field, origin);
}

std::string profile_text(const google::protobuf::Message& profile, const std::string& comment) {
    std::string text = "# SPDX-License-Identifier: Apache-2.0\n# " + comment + "\n";
    print_message(profile, "", text);
    // The printer escapes apostrophes, which need none between double quotes.
    for (std::size_t at = text.find("\\'"); at != std::string::npos; at = text.find("\\'", at)) {
        text.erase(at, 1);
    }
    return text;
}

}  // namespace orrery
