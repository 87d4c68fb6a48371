// SPDX-License-Identifier: Apache-2.0
// Models by hand and profiles that are closed forms, for tests of strategies.
#pragma once

#include "strategies/build_programs.hpp"

#include <functional>

namespace orrery::toy {

/// GPT of arXiv 2205.05198: GELU of 4h, multi-head attention, layer norms, biases, learned
/// positions, tied embeddings, dropout; s = 2048, V = 51,200.
[[nodiscard]] Transformer gpt(std::int64_t layers, std::int64_t hidden, std::int64_t heads);

/// Llama: RMSNorm, SwiGLU, grouped queries, rotary, untied.
[[nodiscard]] Transformer llama(std::int64_t layers, std::int64_t hidden, std::int64_t ffn,
                                std::int64_t heads, std::int64_t kv_heads, std::int64_t vocab);

[[nodiscard]] Transformer llama_8b();
[[nodiscard]] Transformer small_llama(std::int64_t layers);

[[nodiscard]] Training training(std::int64_t sequence, std::int64_t global_batch,
                                std::int64_t micro_batch);

/// `layers` split evenly; DDP.
[[nodiscard]] Plan plan(std::int64_t layers, std::int64_t tensor, std::int64_t pipeline,
                        std::int64_t virtual_stages, std::int64_t data);

[[nodiscard]] BuiltPrograms build(const Transformer& model, const Training& training,
                                  const Plan& plan);

using InstructionFilter = std::function<bool(const Instruction&)>;

/// Collectives and messages of one stage's Program that the filter lets through, as communications
/// in order.
[[nodiscard]] std::vector<Communication> communications(const BuiltPrograms& built,
                                                        std::int64_t stage,
                                                        const InstructionFilter& filter);

[[nodiscard]] std::int64_t count(const std::vector<Communication>& list, CollectiveKind kind);

enum class Look { Always, BetweenPasses };

/// Most bytes of a category alive at once, instructions taken in order, of tensors whose names the
/// filter lets through.
[[nodiscard]] std::int64_t peak_bytes(const BuiltPrograms& built, std::int64_t stage,
                                      MemoryCategory category,
                                      const std::function<bool(const std::string&)>& filter,
                                      Look look);

/// FLOP of every kernel of all ranks and replicas.
[[nodiscard]] double total_flop(const BuiltPrograms& built, const Plan& plan);

[[nodiscard]] const Program& program(const BuiltPrograms& built, std::int64_t stage);

/// Runs the Programs without time: in-order streams, waits, messages that need both ends,
/// collectives that need every stage of their group. Returns the number of instructions that can
/// never start.
[[nodiscard]] std::int64_t stuck_instructions(const BuiltPrograms& built);

}  // namespace orrery::toy
