// SPDX-License-Identifier: Apache-2.0
#include "report/chrome_trace.hpp"

#include "base/assert.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <map>
#include <ostream>
#include <tuple>

namespace orrery {

namespace {

using Json = nlohmann::ordered_json;

/// Microseconds with six decimals: exact for whole picoseconds.
std::string microseconds(SimTime time) {
    const std::int64_t ps = time.ps();
    const std::int64_t magnitude = ps < 0 ? -ps : ps;
    return fmt::format("{}{}.{:06}", ps < 0 ? "-" : "", magnitude / 1'000'000,
                       magnitude % 1'000'000);
}

/// Sender, receiver, and the tag that joins them.
using MessageKey = std::tuple<RankId, RankId, std::uint32_t>;

class ChromeTrace {
  public:
    ChromeTrace(std::ostream& out, const ProgramSet& programs, const CostTable& costs,
                const RunRecord& record, const RankMesh& mesh)
        : out_(&out), programs_(&programs), costs_(&costs), record_(&record), mesh_(&mesh) {
        for (const std::string& name : programs.names) {
            names_.push_back(quoted(name));
        }
        for (const CostRow& row : costs) {
            kernels_.push_back(quoted(kernel_name(row.kernel)));
        }
    }

    void write(const std::vector<RankId>& ranks) {
        *out_ << "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n";
        for (const RankId rank : ranks) {
            write_rank(rank);
        }
        write_flows();
        *out_ << "\n]}\n";
    }

  private:
    static std::string quoted(const std::string& text) {
        return Json(text).dump(-1, ' ', false, Json::error_handler_t::replace);
    }

    void event(const std::string& text) {
        *out_ << (is_first_ ? "" : ",\n") << text;
        is_first_ = false;
    }

    [[nodiscard]] std::string since_start(SimTime time) const {
        return microseconds(time - record_->step_start);
    }

    void write_rank(RankId rank);
    void write_streams(RankId rank, const Program& program);
    void write_slice(RankId rank, const Program& program, const Slice& slice);
    [[nodiscard]] std::string arguments(const Instruction& instruction) const;
    void write_memory(RankId rank, const Program& program, const MemoryRecord& memory);
    void note_message(RankId rank, const Instruction& instruction, const Slice& slice);
    void write_flows();

    struct End {
        RankId rank;
        std::size_t stream = 0;
        SimTime time;
    };

    std::ostream* out_;
    const ProgramSet* programs_;
    const CostTable* costs_;
    const RunRecord* record_;
    const RankMesh* mesh_;
    std::vector<std::string> names_;    ///< quoted, by NameId
    std::vector<std::string> kernels_;  ///< quoted, by CostId
    std::map<MessageKey, std::pair<std::vector<End>, std::vector<End>>> messages_;
    bool is_first_ = true;
};

void ChromeTrace::write_rank(RankId rank) {
    const ClassId class_id = record_->ranks.class_of_rank[rank.value()];
    const ClassRecord& record = record_->classes[class_id.value()];
    const Program& program = programs_->programs[record_->ranks.classes[class_id].program];
    event(fmt::format(
        R"j({{"ph":"M","pid":{0},"name":"process_name","args":{{"name":"rank {0} (stage {1})"}}}})j",
        rank.value(), program.stage));
    event(fmt::format(
        R"({{"ph":"M","pid":{0},"name":"process_sort_index","args":{{"sort_index":{0}}}}})",
        rank.value()));
    write_streams(rank, program);
    for (const Slice& slice : record.slices) {
        write_slice(rank, program, slice);
    }
    write_memory(rank, program, record.memory);
}

void ChromeTrace::write_streams(RankId rank, const Program& program) {
    std::array<bool, kNumStreams> is_used{};
    for (const Instruction& instruction : program.instructions) {
        is_used.at(static_cast<std::size_t>(instruction.stream)) = true;
    }
    for (std::size_t s = 0; s < kNumStreams; ++s) {
        if (is_used.at(s)) {
            event(fmt::format(
                R"({{"ph":"M","pid":{},"tid":{},"name":"thread_name","args":{{"name":"{}"}}}})",
                rank.value(), s, to_string(static_cast<StreamKind>(s))));
        }
    }
}

std::string ChromeTrace::arguments(const Instruction& instruction) const {
    std::string text = fmt::format(R"("microbatch":{},"layer":{},"chunk":{})",
                                   instruction.microbatch, instruction.layer, instruction.chunk);
    if (instruction.kind == InstructionKind::Kernel) {
        const CostRow& row = (*costs_)[CostId(instruction.payload)];
        text +=
            fmt::format(R"(,"kernel":{},"source":"{}","gflop":{})", kernels_[instruction.payload],
                        to_string(row.source), row.flop.si() * 1e-9);
    } else {
        const Communication& comm = programs_->communications[CommId(instruction.payload)];
        text += fmt::format(R"(,"collective":"{}","dimension":"{}","bytes":{})",
                            to_string(comm.kind), to_string(comm.dimension), comm.bytes);
    }
    return text;
}

void ChromeTrace::write_slice(RankId rank, const Program& program, const Slice& slice) {
    const Instruction& instruction = program.instructions[slice.instruction.value()];
    const bool is_kernel = instruction.kind == InstructionKind::Kernel;
    const bool is_message =
        instruction.kind == InstructionKind::Send || instruction.kind == InstructionKind::Recv;
    if (!is_kernel && !is_message && instruction.kind != InstructionKind::Collective) {
        return;
    }
    const auto stream = static_cast<std::size_t>(instruction.stream);
    const std::string where = fmt::format(R"("ph":"X","pid":{},"tid":{})", rank.value(), stream);
    if (slice.begin > slice.start) {
        event(fmt::format(
            R"({{{},"ts":{},"dur":{},"cat":"wait","name":"wait for partners","cname":"grey"}})",
            where, since_start(slice.start), microseconds(slice.begin - slice.start)));
    }
    const NameId name =
        is_kernel ? instruction.name : programs_->communications[CommId(instruction.payload)].name;
    event(fmt::format(R"({{{},"ts":{},"dur":{},"cat":"{}","name":{},"args":{{{}}}}})", where,
                      since_start(slice.begin), microseconds(slice.end - slice.begin),
                      to_string(instruction.work), names_[name.value()], arguments(instruction)));
    if (is_message) {
        note_message(rank, instruction, slice);
    }
}

void ChromeTrace::note_message(RankId rank, const Instruction& instruction, const Slice& slice) {
    const Communication& comm = programs_->communications[CommId(instruction.payload)];
    MeshCoordinates at = mesh_->coordinates(rank);
    at.pipeline = comm.peer_stage;
    const RankId peer = mesh_->rank(at);
    const End end{rank, static_cast<std::size_t>(instruction.stream), slice.begin};
    if (instruction.kind == InstructionKind::Send) {
        messages_[{rank, peer, instruction.tag}].first.push_back(end);
    } else {
        messages_[{peer, rank, instruction.tag}].second.push_back(end);
    }
}

void ChromeTrace::write_flows() {
    std::uint64_t id = 0;
    for (const auto& [key, ends] : messages_) {
        const auto& [sends, recvs] = ends;
        for (std::size_t i = 0; i < std::min(sends.size(), recvs.size()); ++i) {
            ++id;
            const auto flow = [&](const char* phase, const End& end) {
                event(fmt::format(
                    R"({{"ph":"{}","pid":{},"tid":{},"ts":{},"id":{},"cat":"message","name":"message"{}}})",
                    phase, end.rank.value(), end.stream, since_start(end.time), id,
                    phase[0] == 'f' ? R"(,"bp":"e")" : ""));
            };
            flow("s", sends[i]);
            flow("f", recvs[i]);
        }
    }
}

void ChromeTrace::write_memory(RankId rank, const Program& program, const MemoryRecord& memory) {
    std::array<std::int64_t, kNumMemoryCategories> bytes{};
    for (const TensorId tensor : program.persistent) {
        const TensorRow& row = program.tensors[tensor];
        bytes.at(static_cast<std::size_t>(row.category)) += row.bytes;
    }
    const auto counter = [&](const std::string& when) {
        std::string values;
        for (std::size_t c = 0; c < kNumMemoryCategories; ++c) {
            values += fmt::format(R"({}"{}":{})", c == 0 ? "" : ",",
                                  to_string(static_cast<MemoryCategory>(c)), bytes.at(c));
        }
        event(
            fmt::format(R"j({{"ph":"C","pid":{},"ts":{},"name":"memory (bytes)","args":{{{}}}}})j",
                        rank.value(), when, values));
    };
    counter(since_start(record_->step_start));
    for (std::size_t i = 0; i < memory.events.size(); ++i) {
        const MemoryEvent& change = memory.events[i];
        for (const TensorId tensor : program.tensor_lists[change.list]) {
            const TensorRow& row = program.tensors[tensor];
            bytes.at(static_cast<std::size_t>(row.category)) +=
                change.is_allocation ? row.bytes : -row.bytes;
        }
        // Viewers keep one value an instant: write the last.
        if (i + 1 == memory.events.size() || memory.events[i + 1].time != change.time) {
            counter(since_start(change.time));
        }
    }
}

}  // namespace

void write_chrome_trace(std::ostream& out, const ProgramSet& programs, const CostTable& costs,
                        const RunRecord& record, const RankMesh& mesh,
                        const std::vector<RankId>& ranks) {
    ORRERY_ASSERT(!record.deadlock, "a trace is of a step that ended");
    ChromeTrace(out, programs, costs, record, mesh).write(ranks);
}

}  // namespace orrery
