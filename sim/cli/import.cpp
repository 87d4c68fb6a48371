// SPDX-License-Identifier: Apache-2.0
#include "base/nearest_name.hpp"
#include "cli/commands.hpp"
#include "cli/output.hpp"
#include "scenario/import/hf_config.hpp"

#include <algorithm>
#include <iostream>

namespace orrery {

namespace {

Diagnostics check_kind(const std::string& kind) {
    const std::vector<std::string> later{"megatron-args", "torchtitan", "nccl-tests",
                                         "kineto",        "nsys",       "csv"};
    if (kind == "hf-config") {
        return {};
    }
    Diagnostic diagnostic;
    diagnostic.file = "command line";
    if (std::find(later.begin(), later.end(), kind) != later.end()) {
        diagnostic.message = "import of " + kind + " is not built yet";
        diagnostic.hint = "built: hf-config";
    } else {
        diagnostic.message = "unknown format '" + kind + "'";
        diagnostic.hint = name_hint(kind, {"hf-config"});
    }
    return {diagnostic};
}

Expected<std::string> import_model(const ImportCommand& command) {
    ORRERY_TRY(json, read_file(command.file));
    ORRERY_TRY(model, import_hf_config(json, command.file));
    return to_model_text(model);
}

}  // namespace

ExitCode run_command(const ImportCommand& command) {
    Diagnostics found = check_kind(command.kind);
    if (!command.out.empty()) {
        const Diagnostics more = check_writable("--out", command.out);
        found.insert(found.end(), more.begin(), more.end());
    }
    if (!found.empty()) {
        print_errors(found);
        return ExitCode::BadInput;
    }
    const auto text = import_model(command);
    if (!text) {
        print_errors(text.error());
        return ExitCode::BadInput;
    }
    if (command.out.empty()) {
        std::cout << *text;
        return ExitCode::Done;
    }
    const auto written = write_file(command.out, [&](std::ostream& out) { out << *text; });
    if (!written) {
        print_errors(written.error());
        return ExitCode::BadInput;
    }
    return ExitCode::Done;
}

}  // namespace orrery
