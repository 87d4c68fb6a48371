// SPDX-License-Identifier: Apache-2.0
#include "scenario/message_fields.hpp"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>
#include <google/protobuf/text_format.h>

#include <algorithm>
#include <charconv>
#include <vector>

namespace orrery {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;
using google::protobuf::TextFormat;

std::vector<const FieldDescriptor*> set_fields(const Message& message) {
    std::vector<const FieldDescriptor*> fields;
    message.GetReflection()->ListFields(message, &fields);
    return fields;
}

void clear_replaced_lists(Message& base, const Message& over) {
    for (const FieldDescriptor* field : set_fields(over)) {
        const Reflection* reflection = base.GetReflection();
        if (field->is_repeated()) {
            reflection->ClearField(&base, field);
        } else if (field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE &&
                   reflection->HasField(base, field)) {
            clear_replaced_lists(*reflection->MutableMessage(&base, field),
                                 over.GetReflection()->GetMessage(over, field));
        }
    }
}

void visit_scalar(const Message& message, const FieldDescriptor& field, int index, std::string path,
                  const std::function<void(const SetField&)>& visit) {
    SetField set;
    set.path = std::move(path);
    const bool is_string = field.cpp_type() == FieldDescriptor::CPPTYPE_STRING;
    if (is_string) {
        const Reflection* reflection = message.GetReflection();
        set.value = index < 0 ? reflection->GetString(message, &field)
                              : reflection->GetRepeatedString(message, &field, index);
    } else {
        TextFormat::PrintFieldValueToString(message, &field, index, &set.value);
    }
    if (!is_string && field.cpp_type() != FieldDescriptor::CPPTYPE_ENUM &&
        field.cpp_type() != FieldDescriptor::CPPTYPE_BOOL) {
        const char* end = set.value.data() + set.value.size();
        set.is_numeric = std::from_chars(set.value.data(), end, set.number).ec == std::errc();
    }
    visit(set);
}

void visit_fields(const Message& message, const std::string& prefix,
                  const std::function<void(const SetField&)>& visit) {
    for (const FieldDescriptor* field : set_fields(message)) {
        const Reflection* reflection = message.GetReflection();
        const bool repeated = field->is_repeated();
        const int count = repeated ? reflection->FieldSize(message, field) : 1;
        for (int i = 0; i < count; ++i) {
            std::string path = prefix + field->name();
            if (repeated) {
                path += "[" + std::to_string(i) + "]";
            }
            if (field->cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE) {
                visit_scalar(message, *field, repeated ? i : -1, path, visit);
                continue;
            }
            visit_fields(repeated ? reflection->GetRepeatedMessage(message, field, i)
                                  : reflection->GetMessage(message, field),
                         path + ".", visit);
        }
    }
}

}  // namespace

void merge_over(Message& base, const Message& over) {
    clear_replaced_lists(base, over);
    base.MergeFrom(over);
}

void clear_field(Message& message, const std::string& path) {
    const std::size_t dot = path.find('.');
    const std::string name = path.substr(0, std::min(dot, path.find('[')));
    const FieldDescriptor* field = message.GetDescriptor()->FindFieldByName(name);
    if (field == nullptr) {
        return;
    }
    const Reflection* reflection = message.GetReflection();
    if (dot == std::string::npos) {
        reflection->ClearField(&message, field);
    } else if (!field->is_repeated() && field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) {
        clear_field(*reflection->MutableMessage(&message, field), path.substr(dot + 1));
    }
}

void for_each_set_field(const Message& message, const std::function<void(const SetField&)>& visit) {
    visit_fields(message, "", visit);
}

}  // namespace orrery
