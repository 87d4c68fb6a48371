// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "program/builder.hpp"

#include <optional>
#include <span>
#include <vector>

namespace orrery {

/// Writes one rank's Program with the compute stream as the thread of the story: what is issued on
/// another stream waits for the compute stream's position, and the compute stream waits for what
/// was joined.
class StageWriter {
  public:
    explicit StageWriter(ProgramBuilder& builder) : builder_(&builder) {}

    [[nodiscard]] ProgramBuilder& builder() { return *builder_; }

    /// Everything that is written next must come after `id`. Kernels that are already written are
    /// not affected.
    void join(InstructionId id) { pending_.push_back(id); }

    /// What an instruction on another stream waits for to come after all that was written on the
    /// compute stream and joined to it.
    [[nodiscard]] std::vector<InstructionId> position() const {
        std::vector<InstructionId> ids = pending_;
        if (last_) {
            ids.push_back(*last_);
        }
        return ids;
    }

    InstructionId kernel(CostId cost, NameId name) {
        last_ = builder_->kernel(cost, name, pending_);
        pending_.clear();
        return *last_;
    }

    /// After the compute stream's position; does not join.
    InstructionId collective(StreamKind stream, CommId comm) {
        return builder_->collective(stream, comm, position());
    }

    /// Memory is handed out and taken back in the order of the compute stream. Nothing is written
    /// for an empty list.
    void allocate(std::span<const TensorId> tensors) {
        if (!tensors.empty()) {
            last_ = builder_->allocate(StreamKind::Compute, tensors);
        }
    }

    void free(std::span<const TensorId> tensors) {
        if (!tensors.empty()) {
            last_ = builder_->free(StreamKind::Compute, tensors);
        }
    }

    /// Marks the compute stream's position, at no cost: what was there before this step, too, comes
    /// before what waits for the mark.
    void mark() { last_ = builder_->allocate(StreamKind::Compute, {}); }

    /// The host issues nothing more until `id` is done.
    void host_wait(InstructionId id) {
        const std::vector<InstructionId> ids{id};
        builder_->host_wait(ids);
    }

  private:
    ProgramBuilder* builder_;
    std::optional<InstructionId> last_;  ///< of the compute stream
    std::vector<InstructionId> pending_;
};

}  // namespace orrery
