// SPDX-License-Identifier: Apache-2.0
#include "base/diagnostic.hpp"

#include <utility>

namespace orrery {

std::string to_string(const Diagnostic& diagnostic) {
    std::string text = diagnostic.file;
    if (diagnostic.line > 0) {
        text += ":" + std::to_string(diagnostic.line);
        if (diagnostic.column > 0) {
            text += ":" + std::to_string(diagnostic.column);
        }
    }
    if (!text.empty()) {
        text += ": ";
    }
    if (!diagnostic.field.empty()) {
        text += diagnostic.field + ": ";
    }
    text += diagnostic.message;
    if (!diagnostic.hint.empty()) {
        text += "\n    " + diagnostic.hint;
    }
    return text;
}

std::string to_string(const Diagnostics& diagnostics) {
    std::string text;
    for (const Diagnostic& diagnostic : diagnostics) {
        text += to_string(diagnostic) + "\n";
    }
    return text;
}

tl::unexpected<Diagnostics> fail(Diagnostic diagnostic) {
    return tl::unexpected<Diagnostics>(Diagnostics{std::move(diagnostic)});
}

tl::unexpected<Diagnostics> fail(Diagnostics diagnostics) {
    return tl::unexpected<Diagnostics>(std::move(diagnostics));
}

}  // namespace orrery
