// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "program/program.hpp"

#include <map>
#include <span>
#include <string_view>
#include <vector>

namespace orrery {

/// Interns what the Programs of one job share: communications and names.
class ProgramSetBuilder {
  public:
    CommId communication(const Communication& communication);
    NameId name(std::string_view text);

    /// Moves the tables out. The builder is empty afterwards.
    [[nodiscard]] ProgramSet take();

  private:
    ProgramSet set_;
    std::map<Communication, CommId> communication_ids_;
    std::map<std::string, NameId, std::less<>> name_ids_;
};

/// Writes one Program. `Label` fields are stamped on every instruction until changed.
class ProgramBuilder {
  public:
    struct Label {
        Work work = Work::Forward;
        std::int32_t microbatch = -1;
        std::int16_t layer = -1;
        std::int16_t chunk = 0;
    };

    ProgramBuilder(ProgramSetBuilder& shared, std::int64_t stage);

    void set_label(Label label) { label_ = label; }

    [[nodiscard]] const Label& label() const { return label_; }

    [[nodiscard]] ProgramSetBuilder& shared() { return *shared_; }

    /// Each returns the id of the instruction, for later waits. Waits on the own stream's earlier
    /// instructions are dropped (the stream's order already says so), and so are repeated ones.
    InstructionId kernel(CostId cost, NameId name, std::span<const InstructionId> waits = {});
    InstructionId collective(StreamKind stream, CommId comm,
                             std::span<const InstructionId> waits = {});
    InstructionId send(StreamKind stream, CommId comm, std::uint32_t tag,
                       std::span<const InstructionId> waits = {});
    InstructionId recv(StreamKind stream, CommId comm, std::uint32_t tag,
                       std::span<const InstructionId> waits = {});
    InstructionId allocate(StreamKind stream, std::span<const TensorId> tensors,
                           std::span<const InstructionId> waits = {});
    InstructionId free(StreamKind stream, std::span<const TensorId> tensors,
                       std::span<const InstructionId> waits = {});
    InstructionId host_wait(std::span<const InstructionId> waits);

    /// Interns a kind of tensor.
    TensorId tensor(std::string_view name, MemoryCategory category, std::int64_t bytes);

    void keep(TensorId tensor) { program_.persistent.push_back(tensor); }

    [[nodiscard]] const Program& program() const { return program_; }

    [[nodiscard]] Program take() { return std::move(program_); }

  private:
    InstructionId append(Instruction instruction, std::span<const InstructionId> waits);
    std::uint32_t list(std::span<const TensorId> tensors);

    ProgramSetBuilder* shared_;
    Program program_;
    Label label_;
    std::map<TensorRow, TensorId> tensor_ids_;
    std::map<std::vector<TensorId>, std::uint32_t> list_ids_;
};

}  // namespace orrery
