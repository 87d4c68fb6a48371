// SPDX-License-Identifier: Apache-2.0
#include "fuzz_target.hpp"
#include "tests/catch.hpp"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

namespace {

using Input = std::vector<std::uint8_t>;

std::vector<Input> corpus() {
    std::vector<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::directory_iterator(ORRERY_CORPUS)) {
        files.push_back(entry.path());
    }
    std::ranges::sort(files);
    std::vector<Input> inputs;
    for (const auto& file : files) {
        std::ifstream stream(file, std::ios::binary);
        inputs.emplace_back(std::istreambuf_iterator<char>(stream),
                            std::istreambuf_iterator<char>());
    }
    return inputs;
}

void run(const Input& input) {
    CHECK(LLVMFuzzerTestOneInput(input.data(), input.size()) == 0);
}

/// Changes a few bytes, cuts a piece out, or doubles one.
Input mutated(Input input, std::mt19937& random) {
    const auto below = [&random](std::size_t end) {
        return random() % std::max<std::size_t>(end, 1);
    };
    for (int edits = 0; edits < 3 && !input.empty(); ++edits) {
        const auto from = input.begin() + static_cast<std::ptrdiff_t>(below(input.size()));
        const auto to = from + static_cast<std::ptrdiff_t>(std::min<std::size_t>(
                                   below(40), static_cast<std::size_t>(input.end() - from)));
        switch (below(3)) {
            case 0:
                *from = static_cast<std::uint8_t>(below(256));
                break;
            case 1:
                input.erase(from, to);
                break;
            default: {
                const Input piece(from, to);
                input.insert(from, piece.begin(), piece.end());
            }
        }
    }
    return input;
}

}  // namespace

TEST_CASE("every input of the corpus keeps the promises") {
    const auto inputs = corpus();
    REQUIRE(inputs.size() >= 5);
    for (const Input& input : inputs) {
        run(input);
    }
}

TEST_CASE("every beginning of an input keeps the promises") {
    for (const Input& input : corpus()) {
        const std::size_t step = 1 + input.size() / 25;
        for (std::size_t size = 0; size < input.size(); size += step) {
            run(Input(input.begin(), input.begin() + static_cast<std::ptrdiff_t>(size)));
        }
    }
}

TEST_CASE("damaged inputs keep the promises") {
    std::mt19937 random(20260731);  // NOLINT(cert-msc51-cpp): the same damage in every run
    for (const Input& input : corpus()) {
        for (int i = 0; i < 25; ++i) {
            run(mutated(input, random));
        }
    }
}
