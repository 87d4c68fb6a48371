// SPDX-License-Identifier: Apache-2.0
#include "engine/memory_ledger.hpp"

#include "base/assert.hpp"

#include <algorithm>
#include <utility>

namespace orrery {

MemoryLedger::MemoryLedger(const Program& program)
    : program_(&program), alive_(program.tensors.size(), 0) {
    for (const TensorId tensor : program.persistent) {
        const TensorRow& row = program.tensors[tensor];
        ++alive_[tensor.value()];
        bytes_[static_cast<std::size_t>(row.category)] += row.bytes;
        total_ += row.bytes;
    }
}

void MemoryLedger::begin_step(SimTime now, bool records_events) {
    flush();
    record_ = MemoryRecord{};
    record_.peak_bytes = total_;
    record_.peak_time = now;
    is_at_peak_ = true;
    records_events_ = records_events;
    pending_time_ = now;
}

void MemoryLedger::apply(SimTime now, std::uint32_t instruction, bool is_allocation) {
    if (now != pending_time_) {
        flush();
        pending_time_ = now;
    }
    pending_.push_back({instruction, is_allocation});
}

void MemoryLedger::flush() {
    std::sort(pending_.begin(), pending_.end(),
              [](const Pending& a, const Pending& b) { return a.instruction < b.instruction; });
    for (const Pending& pending : pending_) {
        const std::uint32_t list = program_->instructions[pending.instruction].payload;
        if (pending.is_allocation) {
            allocate(list);
        } else {
            free(list);
        }
        if (records_events_) {
            record_.events.push_back(
                {.time = pending_time_, .list = list, .is_allocation = pending.is_allocation});
        }
    }
    pending_.clear();
}

void MemoryLedger::allocate(std::uint32_t list) {
    for (const TensorId tensor : program_->tensor_lists[list]) {
        const TensorRow& row = program_->tensors[tensor];
        ++alive_[tensor.value()];
        bytes_[static_cast<std::size_t>(row.category)] += row.bytes;
        total_ += row.bytes;
    }
    if (total_ > record_.peak_bytes) {
        record_.peak_bytes = total_;
        record_.peak_time = pending_time_;
        is_at_peak_ = true;
    }
}

void MemoryLedger::free(std::uint32_t list) {
    note_peak();
    for (const TensorId tensor : program_->tensor_lists[list]) {
        const TensorRow& row = program_->tensors[tensor];
        --alive_[tensor.value()];
        bytes_[static_cast<std::size_t>(row.category)] -= row.bytes;
        total_ -= row.bytes;
    }
}

/// Copies what is alive once a rise has ended, not at every step of it.
void MemoryLedger::note_peak() {
    if (is_at_peak_ && total_ == record_.peak_bytes) {
        record_.at_peak = bytes_;
        record_.tensors_at_peak = alive_;
    }
    is_at_peak_ = false;
}

MemoryRecord MemoryLedger::finish_step() {
    flush();
    note_peak();
    record_.end_bytes = total_;
    return std::exchange(record_, MemoryRecord{});
}

}  // namespace orrery
