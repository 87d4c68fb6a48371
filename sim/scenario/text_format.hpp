// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/diagnostic.hpp"

#include <map>
#include <string>

namespace google::protobuf {
class Message;
}  // namespace google::protobuf

namespace orrery {

/// A place in a text, both from 1.
struct TextPlace {
    int line = 0;
    int column = 0;

    friend bool operator==(const TextPlace&, const TextPlace&) = default;
};

/// Where the fields of a parsed text file stand, by dotted path: "plan.tensor",
/// "plan.stage_layers[2]", and "plan.stage_layers" for the first of a repeated field.
class TextLocations {
  public:
    void add(const std::string& path, TextPlace place) { places_.emplace(path, place); }

    /// Was the field itself written in the text?
    [[nodiscard]] bool contains(const std::string& path) const { return places_.contains(path); }

    /// The field's place, else that of the nearest enclosing message, else line 0.
    [[nodiscard]] TextPlace find(std::string path) const;

  private:
    std::map<std::string, TextPlace> places_;
};

/// Parses protobuf text into `message`. Returns every error found: unknown fields with the nearest
/// valid name, unknown enum values with the valid ones, wrong types; each with file, line and
/// column. Bounds: 16 MiB of text, nesting of 64. Empty when all is well. `locations` may be null.
/// `message` then holds the fields that were understood. After a broken bracket or quote nothing
/// more is looked for.
[[nodiscard]] Diagnostics parse_text(const std::string& text, const std::string& file,
                                     google::protobuf::Message& message, TextLocations* locations);

}  // namespace orrery
