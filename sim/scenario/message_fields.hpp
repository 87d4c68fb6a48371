// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>

namespace google::protobuf {
class FieldDescriptor;
class Message;
}  // namespace google::protobuf

namespace orrery {

/// Copies every field that is set in `over` into `base`, message by message; a repeated field that
/// is not empty replaces that of `base`. Requires: both are of one type.
void merge_over(google::protobuf::Message& base, const google::protobuf::Message& over);

/// Clears the field (of a repeated one all elements) that a path of SetField names.
void clear_field(google::protobuf::Message& message, const std::string& path);

/// A scalar field that is set, or one element of a repeated one.
struct SetField {
    std::string path;     ///< "plan.tensor", "plan.stage_layers[2]"
    std::string value;    ///< as the text format spells it, strings without quotes
    double number = 0.0;  ///< of numeric fields
    bool is_numeric = false;
};

/// Calls `visit` for every scalar that is set in `message`, in the order of field numbers.
void for_each_set_field(const google::protobuf::Message& message,
                        const std::function<void(const SetField&)>& visit);

}  // namespace orrery
