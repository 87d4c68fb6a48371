// SPDX-License-Identifier: Apache-2.0
#include "scenario/overrides.hpp"

#include "base/nearest_name.hpp"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>
#include <google/protobuf/text_format.h>

#include <cctype>
#include <charconv>
#include <cstddef>
#include <optional>
#include <string_view>

namespace orrery {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

/// A field that a path leads to, and the message that holds it.
struct Target {
    Message* parent = nullptr;
    const FieldDescriptor* field = nullptr;
    std::optional<int> index;
};

Diagnostic set_error(const std::string& path, std::string message, std::string hint = "") {
    return Diagnostic{
        .file = "--set", .field = path, .message = std::move(message), .hint = std::move(hint)};
}

std::vector<std::string> field_names(const Descriptor& type) {
    std::vector<std::string> names;
    for (int i = 0; i < type.field_count(); ++i) {
        names.push_back(type.field(i)->name());
    }
    return names;
}

/// "name[3]" → name and 3; no value where the brackets are broken.
std::optional<std::pair<std::string, std::optional<int>>> split_index(const std::string& part) {
    const std::size_t open = part.find('[');
    if (open == std::string::npos) {
        return std::pair{part, std::optional<int>()};
    }
    int index = 0;
    const char* end = part.data() + part.size();
    const auto [stop, error] = std::from_chars(part.data() + open + 1, end, index);
    if (error != std::errc() || stop + 1 != end || *stop != ']' || index < 0) {
        return std::nullopt;
    }
    return std::pair{part.substr(0, open), std::optional<int>(index)};
}

Expected<Target> find_target(const std::string& path, Message& root) {
    Target target{.parent = &root, .field = nullptr, .index = std::nullopt};
    std::size_t start = 0;
    while (true) {
        const std::size_t dot = path.find('.', start);
        const auto part =
            split_index(path.substr(start, dot == std::string::npos ? dot : dot - start));
        if (!part) {
            return fail(set_error(path, "expected [i] with a whole number i >= 0"));
        }
        const Descriptor* type = target.parent->GetDescriptor();
        target.field = type->FindFieldByName(part->first);
        target.index = part->second;
        if (target.field == nullptr) {
            return fail(set_error(path, "there is no field '" + part->first + "'",
                                  name_hint(part->first, field_names(*type))));
        }
        if (target.index && !target.field->is_repeated()) {
            return fail(set_error(path, "'" + part->first + "' is not a list"));
        }
        const bool is_message = target.field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE;
        if (dot == std::string::npos) {
            if (is_message) {
                return fail(set_error(path, "is a group of fields: name one of them",
                                      name_hint("", field_names(*target.field->message_type()))));
            }
            return target;
        }
        if (!is_message || target.field->is_repeated()) {
            return fail(set_error(path, "'" + part->first + "' has no fields"));
        }
        target.parent = target.parent->GetReflection()->MutableMessage(target.parent, target.field);
        start = dot + 1;
    }
}

std::string quoted(const std::string& value) {
    if (value.size() >= 2 && value.front() == '"' && value.back() == '"') {
        return value;
    }
    std::string text = "\"";
    for (const char c : value) {
        if (c == '"' || c == '\\') {
            text += '\\';
        }
        text += c;
    }
    return text + "\"";
}

std::vector<std::string> split_list(std::string_view list) {
    std::vector<std::string> items;
    std::string item;
    for (const char c : list) {
        if (c == ',') {
            items.push_back(item);
            item.clear();
        } else if (std::isspace(static_cast<unsigned char>(c)) == 0) {
            item += c;
        }
    }
    if (!item.empty() || !items.empty()) {
        items.push_back(item);
    }
    return items;
}

/// Parses "field: value" lines into a fresh message of the parent's type.
Expected<std::unique_ptr<Message>> parse_values(const std::string& path, const Target& target,
                                                const std::vector<std::string>& values) {
    std::unique_ptr<Message> parsed(target.parent->New());
    for (const std::string& value : values) {
        const bool is_string = target.field->cpp_type() == FieldDescriptor::CPPTYPE_STRING;
        // A value is one token: no text can smuggle in a second field.
        if (!is_string &&
            (value.empty() || value.find_first_of(" \t\n:{}<>,;#\"'") != std::string::npos)) {
            return fail(set_error(path, "\"" + value + "\" is not a value of this field"));
        }
        std::unique_ptr<Message> one(target.parent->New());
        const Diagnostics errors =
            parse_text(target.field->name() + ": " + (is_string ? quoted(value) : value), "--set",
                       *one, nullptr);
        if (!errors.empty()) {
            return fail(set_error(path, errors.front().message, errors.front().hint));
        }
        parsed->MergeFrom(*one);
    }
    return parsed;
}

void copy_element(Message& to, const Message& from, const FieldDescriptor& field, int index) {
    const auto* reflection = to.GetReflection();
    const bool appends = index == reflection->FieldSize(to, &field);
    if (field.cpp_type() == FieldDescriptor::CPPTYPE_INT64) {
        const auto value = reflection->GetRepeatedInt64(from, &field, 0);
        appends ? reflection->AddInt64(&to, &field, value)
                : reflection->SetRepeatedInt64(&to, &field, index, value);
    } else {
        const auto value = reflection->GetRepeatedString(from, &field, 0);
        appends ? reflection->AddString(&to, &field, value)
                : reflection->SetRepeatedString(&to, &field, index, value);
    }
}

std::optional<Diagnostic> apply(const Override& change, Message& root) {
    auto target = find_target(change.path, root);
    if (!target) {
        return target.error().front();
    }
    const bool is_list = target->field->is_repeated() && !target->index;
    std::vector<std::string> values = {change.value};
    if (is_list) {
        if (!change.value.starts_with('[') || !change.value.ends_with(']')) {
            return set_error(change.path,
                             "is a list: expected [a,b,c], got \"" + change.value + "\"");
        }
        values = split_list(std::string_view(change.value).substr(1, change.value.size() - 2));
    }
    auto parsed = parse_values(change.path, *target, values);
    if (!parsed) {
        return parsed.error().front();
    }
    const auto* reflection = target->parent->GetReflection();
    if (target->index) {
        const int size = reflection->FieldSize(*target->parent, target->field);
        if (*target->index > size) {
            return set_error(change.path, "the list has " + std::to_string(size) + " entries");
        }
        copy_element(*target->parent, **parsed, *target->field, *target->index);
        return std::nullopt;
    }
    reflection->ClearField(target->parent, target->field);
    target->parent->MergeFrom(**parsed);
    return std::nullopt;
}

}  // namespace

Expected<Override> parse_override(const std::string& text) {
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0) {
        return fail(Diagnostic{.file = "--set",
                               .message = "expected PATH=VALUE, got \"" + text + "\"",
                               .hint = "for example plan.tensor=4"});
    }
    return Override{.path = text.substr(0, equals), .value = text.substr(equals + 1)};
}

Diagnostics apply_overrides(const std::vector<Override>& overrides, Message& message,
                            TextLocations& places) {
    Diagnostics found;
    for (const Override& change : overrides) {
        if (auto error = apply(change, message)) {
            found.push_back(std::move(*error));
        } else {
            places.add(change.path, TextPlace{});
        }
    }
    return found;
}

}  // namespace orrery
