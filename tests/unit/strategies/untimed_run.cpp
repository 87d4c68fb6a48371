// SPDX-License-Identifier: Apache-2.0
// An independent, untimed executor of Programs: what can ever start.
#include "tests/unit/strategies/toy_job.hpp"

#include <array>
#include <deque>
#include <map>
#include <tuple>

namespace orrery::toy {

namespace {

using MessageKey = std::tuple<std::int64_t, std::int64_t, std::uint32_t>;  // from, to, tag
using GroupKey = std::pair<GroupKind, std::size_t>;                        // kind, how many-th

class Run {
  public:
    explicit Run(const BuiltPrograms& built) : built_(&built) {
        for (const Program& program : built.programs.programs) {
            auto& streams = queues_.emplace_back();
            for (std::size_t i = 0; i < program.instructions.size(); ++i) {
                streams[static_cast<std::size_t>(program.instructions[i].stream)].push_back(i);
            }
            done_.emplace_back(program.instructions.size(), false);
            groups_done_.emplace_back();
        }
    }

    std::int64_t stuck() {
        while (sweep()) {
        }
        std::int64_t left = 0;
        for (const auto& streams : queues_) {
            for (const auto& queue : streams) {
                left += static_cast<std::int64_t>(queue.size());
            }
        }
        return left;
    }

  private:
    /// Everything at the head of its stream whose waits are done; then what of it may finish.
    bool sweep() {
        arrived_.clear();
        gathered_.clear();
        for (std::size_t s = 0; s < queues_.size(); ++s) {
            for_each_head(s, [&](const Instruction& instruction) { note(s, instruction); });
        }
        bool moved = false;
        for (std::size_t s = 0; s < queues_.size(); ++s) {
            for (auto& queue : queues_[s]) {
                while (!queue.empty() && is_ready(s, queue.front()) &&
                       may_finish(s, queue.front())) {
                    finish(s, queue.front());
                    queue.pop_front();
                    moved = true;
                }
            }
        }
        return moved;
    }

    template <typename F>
    void for_each_head(std::size_t s, F visit) {
        for (const auto& queue : queues_[s]) {
            if (!queue.empty() && is_ready(s, queue.front())) {
                visit(at(s, queue.front()));
            }
        }
    }

    [[nodiscard]] const Program& program_of(std::size_t s) const {
        return program(*built_, static_cast<std::int64_t>(s));
    }

    [[nodiscard]] const Instruction& at(std::size_t s, std::size_t i) const {
        return program_of(s).instructions[i];
    }

    [[nodiscard]] bool is_ready(std::size_t s, std::size_t i) const {
        const Instruction& instruction = at(s, i);
        for (std::uint32_t w = 0; w < instruction.num_waits; ++w) {
            if (!done_[s][program_of(s).waits[instruction.first_wait + w].value()]) {
                return false;
            }
        }
        return true;
    }

    [[nodiscard]] MessageKey key(std::size_t s, const Instruction& instruction) const {
        const auto here = static_cast<std::int64_t>(s);
        const std::int64_t peer =
            built_->programs.communications[CommId(instruction.payload)].peer_stage;
        const bool sends = instruction.kind == InstructionKind::Send;
        return {sends ? here : peer, sends ? peer : here, instruction.tag};
    }

    [[nodiscard]] bool spans_stages(const Instruction& instruction) const {
        const GroupKind group = built_->programs.communications[CommId(instruction.payload)].group;
        return group == GroupKind::World || group == GroupKind::Embedding;
    }

    [[nodiscard]] GroupKey group_key(std::size_t s, const Instruction& instruction) const {
        const GroupKind group = built_->programs.communications[CommId(instruction.payload)].group;
        const auto found = groups_done_[s].find(group);
        return {group, found == groups_done_[s].end() ? 0 : found->second};
    }

    void note(std::size_t s, const Instruction& instruction) {
        if (instruction.kind == InstructionKind::Send ||
            instruction.kind == InstructionKind::Recv) {
            ++arrived_[key(s, instruction)];
        } else if (instruction.kind == InstructionKind::Collective && spans_stages(instruction)) {
            ++gathered_[group_key(s, instruction)];
        }
    }

    [[nodiscard]] bool may_finish(std::size_t s, std::size_t i) {
        const Instruction& instruction = at(s, i);
        if (instruction.kind == InstructionKind::Send ||
            instruction.kind == InstructionKind::Recv) {
            return arrived_[key(s, instruction)] == 2;
        }
        if (instruction.kind == InstructionKind::Collective && spans_stages(instruction)) {
            const GroupKey group = group_key(s, instruction);
            const auto members = group.first == GroupKind::World ? queues_.size() : 2;
            return static_cast<std::size_t>(gathered_[group]) == members;
        }
        return true;
    }

    void finish(std::size_t s, std::size_t i) {
        done_[s][i] = true;
        if (at(s, i).kind == InstructionKind::Collective && spans_stages(at(s, i))) {
            ++groups_done_[s][group_key(s, at(s, i)).first];
        }
    }

    const BuiltPrograms* built_;
    std::vector<std::array<std::deque<std::size_t>, kNumStreams>> queues_;
    std::vector<std::vector<bool>> done_;
    std::vector<std::map<GroupKind, std::size_t>> groups_done_;
    std::map<MessageKey, int> arrived_;
    std::map<GroupKey, int> gathered_;
};

}  // namespace

std::int64_t stuck_instructions(const BuiltPrograms& built) {
    return Run(built).stuck();
}

}  // namespace orrery::toy
