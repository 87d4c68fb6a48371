// SPDX-License-Identifier: Apache-2.0
#include "scenario/text_format.hpp"

#include "base/nearest_name.hpp"
#include "scenario/text_statements.hpp"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/io/tokenizer.h>
#include <google/protobuf/message.h>
#include <google/protobuf/text_format.h>

#include <cctype>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

namespace orrery {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::TextFormat;

constexpr std::size_t kMaxText = std::size_t{16} << 20U;
constexpr int kMaxDepth = 64;
constexpr int kMaxErrors = 50;

struct ParserError {
    int line = 0;
    int column = 0;
    std::string message;
};

class FirstError : public google::protobuf::io::ErrorCollector {
  public:
    void AddError(int line, google::protobuf::io::ColumnNumber column,
                  const std::string& message) override {
        if (first.message.empty()) {
            first = ParserError{.line = line, .column = column, .message = message};
        }
    }

    ParserError first;
};

/// The descriptor of the message that holds the last name of `path`; null when there is none.
const Descriptor* parent_of(const Descriptor* root, const std::string& path) {
    std::size_t start = 0;
    for (std::size_t dot = path.find('.'); root != nullptr && dot != std::string::npos;
         start = dot + 1, dot = path.find('.', start)) {
        const FieldDescriptor* field = root->FindFieldByName(path.substr(start, dot - start));
        root = field == nullptr ? nullptr : field->message_type();
    }
    return root;
}

std::string last_name(const std::string& path) {
    const std::size_t dot = path.rfind('.');
    return dot == std::string::npos ? path : path.substr(dot + 1);
}

std::string enum_hint(const FieldDescriptor& field, const std::string& value) {
    std::vector<std::string> names;
    std::string valid;
    for (int i = 0; i < field.enum_type()->value_count(); ++i) {
        names.push_back(field.enum_type()->value(i)->name());
        valid += (i == 0 ? "valid: " : ", ") + names.back();
    }
    const std::string nearest = nearest_name(value, names);
    return nearest.empty() ? valid : "did you mean '" + nearest + "'? " + valid;
}

/// protobuf reports these where the token after the bad one stands.
bool is_reported_late(const std::string& message) {
    return message.starts_with("Message type ") || message.starts_with("Unknown enumeration") ||
           message.starts_with("Non-repeated field") ||
           message.starts_with("Invalid value for boolean");
}

void describe(const std::string& raw, const Descriptor* root, const std::string& value,
              Diagnostic& diagnostic) {
    const Descriptor* parent = parent_of(root, diagnostic.field);
    const std::string name = last_name(diagnostic.field);
    const FieldDescriptor* field = parent == nullptr ? nullptr : parent->FindFieldByName(name);
    if (parent != nullptr && field == nullptr) {
        std::vector<std::string> names;
        for (int i = 0; i < parent->field_count(); ++i) {
            names.push_back(parent->field(i)->name());
        }
        diagnostic.message = "there is no field of this name";
        diagnostic.hint = name_hint(name, names);
        return;
    }
    if (raw.starts_with("Non-repeated field")) {
        diagnostic.message = "is set twice";
        return;
    }
    if (field != nullptr && field->cpp_type() == FieldDescriptor::CPPTYPE_ENUM) {
        diagnostic.message = "\"" + value + "\" is not a value of this field";
        diagnostic.hint = enum_hint(*field, value);
        return;
    }
    diagnostic.message = raw;
    if (diagnostic.message.size() > 1 && diagnostic.message.back() == '.') {
        diagnostic.message.pop_back();
    }
    diagnostic.message.front() =
        static_cast<char>(std::tolower(static_cast<unsigned char>(diagnostic.message.front())));
}

/// Enum fields of proto3 take any number in text: refuse those that name nothing.
void check_enums(const Message& message, const std::string& prefix, const std::string& file,
                 const TextLocations& places, Diagnostics& found) {
    std::vector<const FieldDescriptor*> fields;
    message.GetReflection()->ListFields(message, &fields);
    for (const FieldDescriptor* field : fields) {
        const std::string path = prefix + field->name();
        const auto* reflection = message.GetReflection();
        const int count = field->is_repeated() ? reflection->FieldSize(message, field) : 1;
        for (int i = 0; i < count; ++i) {
            const std::string at =
                field->is_repeated() ? path + "[" + std::to_string(i) + "]" : path;
            if (field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) {
                check_enums(field->is_repeated() ? reflection->GetRepeatedMessage(message, field, i)
                                                 : reflection->GetMessage(message, field),
                            at + ".", file, places, found);
            } else if (field->cpp_type() == FieldDescriptor::CPPTYPE_ENUM) {
                const int value = field->is_repeated()
                                      ? reflection->GetRepeatedEnumValue(message, field, i)
                                      : reflection->GetEnumValue(message, field);
                if (field->enum_type()->FindValueByNumber(value) == nullptr) {
                    const TextPlace place = places.find(at);
                    found.push_back(Diagnostic{
                        .file = file,
                        .line = place.line,
                        .column = place.column,
                        .field = at,
                        .message = std::to_string(value) + " is not a value of this field",
                        .hint = enum_hint(*field, "")});
                }
            }
        }
    }
}

/// Turns protobuf's tree of places into paths.
class PlaceCollector {
  public:
    PlaceCollector(const std::string& text, TextLocations& places)
        : text_(&text), places_(&places) {
        line_starts_.push_back(0);
        for (std::size_t i = 0; i < text.size(); ++i) {
            if (text[i] == '\n') {
                line_starts_.push_back(i + 1);
            }
        }
    }

    void collect(const Message& message, TextFormat::ParseInfoTree& tree,
                 const std::string& prefix) {
        std::vector<const FieldDescriptor*> fields;
        message.GetReflection()->ListFields(message, &fields);
        for (const FieldDescriptor* field : fields) {
            const int count =
                field->is_repeated() ? message.GetReflection()->FieldSize(message, field) : 1;
            for (int i = 0; i < count; ++i) {
                collect_one(message, tree, *field, prefix + field->name(), i);
            }
        }
    }

  private:
    void collect_one(const Message& message, TextFormat::ParseInfoTree& tree,
                     const FieldDescriptor& field, const std::string& path, int index) {
        const bool repeated = field.is_repeated();
        const std::string full = repeated ? path + "[" + std::to_string(index) + "]" : path;
        const auto location = tree.GetLocation(&field, repeated ? index : -1);
        if (location.line >= 0) {
            const TextPlace place = place_at(location.line, location.column);
            places_->add(full, place);
            places_->add(path, place);
        }
        if (field.cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE) {
            return;
        }
        TextFormat::ParseInfoTree* nested = tree.GetTreeForNested(&field, repeated ? index : -1);
        if (nested != nullptr) {
            const auto* reflection = message.GetReflection();
            collect(repeated ? reflection->GetRepeatedMessage(message, &field, index)
                             : reflection->GetMessage(message, &field),
                    *nested, full + ".");
        }
    }

    [[nodiscard]] TextPlace place_at(int line, int tab_column) const {
        const std::size_t start = line_starts_[static_cast<std::size_t>(line)];
        const std::size_t end = text_->find('\n', start);
        const std::string row = text_->substr(start, end == std::string::npos ? end : end - start);
        return TextPlace{.line = line + 1,
                         .column = static_cast<int>(offset_of(row, 0, tab_column)) + 1};
    }

    const std::string* text_;
    TextLocations* places_;
    std::vector<std::size_t> line_starts_;
};

/// One run of protobuf's parser over `text`; no value when it succeeded.
std::optional<ParserError> run_parser(const std::string& text, Message& message,
                                      TextFormat::ParseInfoTree& tree) {
    message.Clear();
    FirstError error;
    TextFormat::Parser parser;
    parser.RecordErrorsTo(&error);
    parser.WriteLocationsTo(&tree);
    parser.SetRecursionLimit(kMaxDepth);
    if (parser.ParseFromString(text, &message)) {
        return std::nullopt;
    }
    if (error.first.message.empty()) {
        error.first.message = "cannot be read";
    }
    return error.first;
}

/// Tells the error and blanks its statement out of `text`. False when there is no statement to
/// blank.
bool report_and_mask(const ParserError& error, const Descriptor* root, TextStatements* statements,
                     std::string& text, Diagnostic& diagnostic) {
    const std::size_t offset = offset_of(text, error.line, error.column);
    std::size_t token = statements == nullptr ? 0 : statements->token_at(offset);
    if (statements != nullptr &&
        (is_reported_late(error.message) || token == statements->tokens().size())) {
        token = statements->token_before(token);
    }
    const TextStatement* statement =
        statements == nullptr ? nullptr : statements->statement_at(token);
    if (statement == nullptr || statements->tokens()[statement->first].is_masked) {
        const TextPlace place = place_of(text, offset);
        diagnostic.line = place.line;
        diagnostic.column = place.column;
        describe(error.message, nullptr, "", diagnostic);
        return false;
    }
    diagnostic.field = statement->path;
    const TextPlace place = place_of(text, statements->tokens()[token].begin);
    diagnostic.line = place.line;
    diagnostic.column = place.column;
    describe(error.message, root, statements->tokens()[token].text, diagnostic);
    const TextStatement bad = *statement;
    statements->mask(bad, text);
    return true;
}

}  // namespace

TextPlace TextLocations::find(std::string path) const {
    while (!path.empty()) {
        if (const auto found = places_.find(path); found != places_.end()) {
            return found->second;
        }
        const std::size_t cut = path.find_last_of(".[");
        path.resize(cut == std::string::npos ? 0 : cut);
    }
    return TextPlace{};
}

Diagnostics parse_text(const std::string& text, const std::string& file, Message& message,
                       TextLocations* locations) {
    if (text.size() > kMaxText) {
        message.Clear();
        return {Diagnostic{.file = file, .message = "is larger than 16 MiB"}};
    }
    std::string rest = text;
    std::optional<TextStatements> statements;
    Diagnostics found;
    for (int i = 0; i < kMaxErrors; ++i) {
        TextFormat::ParseInfoTree tree;
        const std::optional<ParserError> error = run_parser(rest, message, tree);
        if (!error) {
            TextLocations places;
            PlaceCollector(text, places).collect(message, tree, "");
            check_enums(message, "", file, places, found);
            if (locations != nullptr) {
                *locations = std::move(places);
            }
            return found;
        }
        if (!statements) {
            statements = TextStatements::scan(rest);
        }
        found.push_back(Diagnostic{.file = file});
        if (!report_and_mask(*error, message.GetDescriptor(), statements ? &*statements : nullptr,
                             rest, found.back())) {
            return found;
        }
    }
    found.push_back(Diagnostic{.file = file, .message = "has more errors than these"});
    return found;
}

}  // namespace orrery
