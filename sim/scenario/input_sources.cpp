// SPDX-License-Identifier: Apache-2.0
#include "scenario/input_sources.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace orrery {
namespace {

constexpr std::size_t kUserLayers = 2;

std::string without_index(const std::string& path) {
    return path.ends_with(']') ? path.substr(0, path.rfind('[')) : path;
}

}  // namespace

std::string InputSources::in_file(const Layer& layer, const std::string& path) {
    return layer.inner + path.substr(layer.outer.size());
}

bool InputSources::holds(const Layer& layer, const std::string& path) {
    if (!path.starts_with(layer.outer)) {
        return false;
    }
    const std::string inner = in_file(layer, path);
    return layer.places.contains(inner) || layer.places.contains(without_index(inner));
}

void InputSources::add_error(const std::string& path, std::string message, std::string hint) {
    add_error(path, {path}, std::move(message), std::move(hint));
}

void InputSources::add_error(const std::string& path, const std::vector<std::string>& reads,
                             std::string message, std::string hint) {
    bad_.insert(path);
    Diagnostic error{.field = path, .message = std::move(message), .hint = std::move(hint)};
    for (const std::string& read : reads) {
        for (const Layer& layer : layers_) {
            if (!holds(layer, read)) {
                continue;
            }
            const TextPlace place = layer.places.find(in_file(layer, read));
            error.file = layer.file;
            error.line = place.line;
            error.column = place.column;
            if (!layer.what.empty()) {
                error.message += " (" + layer.what + ")";
            }
            errors_.push_back(std::move(error));
            return;
        }
    }
    if (layers_.size() >= kUserLayers) {
        const Layer& scenario = layers_[kUserLayers - 1];
        const TextPlace place = scenario.places.find(path);
        error.file = scenario.file;
        error.line = place.line;
        error.column = place.column;
    }
    errors_.push_back(std::move(error));
}

void InputSources::add_errors(const Diagnostics& errors) {
    for (const Diagnostic& error : errors) {
        if (!error.field.empty()) {
            bad_.insert(error.field);
        }
        errors_.push_back(error);
    }
}

bool InputSources::is_any_bad(const std::vector<std::string>& paths) const {
    return std::ranges::any_of(paths, [this](const std::string& path) {
        return std::ranges::any_of(bad_, [&path](const std::string& bad) {
            return bad == path || without_index(bad) == path || path.starts_with(bad + ".");
        });
    });
}

bool InputSources::is_set_by_user(const std::string& path) const {
    return std::any_of(
        layers_.begin(),
        layers_.begin() + static_cast<std::ptrdiff_t>(std::min(kUserLayers, layers_.size())),
        [&path](const Layer& layer) { return holds(layer, path); });
}

Diagnostics InputSources::take_errors() {
    std::vector<std::string> files;
    for (const Diagnostic& error : errors_) {
        if (std::ranges::find(files, error.file) == files.end()) {
            files.push_back(error.file);
        }
    }
    std::ranges::stable_sort(errors_, [&files](const Diagnostic& a, const Diagnostic& b) {
        const auto file_a = std::ranges::find(files, a.file);
        const auto file_b = std::ranges::find(files, b.file);
        return std::tuple(file_a, a.line, a.column) < std::tuple(file_b, b.line, b.column);
    });
    return std::exchange(errors_, {});
}

}  // namespace orrery
