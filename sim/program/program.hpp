// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/ids.hpp"
#include "base/sim_time.hpp"
#include "plan/rank_mesh.hpp"

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace orrery {

/// In-order queues of one rank. Instructions of one stream run one after another in issue order.
enum class StreamKind : std::uint8_t {
    Compute,
    Tensor,
    Context,
    Expert,
    ForwardSend,  ///< activations to the next virtual stage
    ForwardRecv,
    BackwardSend,  ///< gradients to the previous virtual stage
    BackwardRecv,
    Data,
    ToHost,
    ToDevice
};
inline constexpr std::size_t kNumStreams = 11;

enum class InstructionKind : std::uint8_t {
    Kernel,      ///< payload = CostId
    Collective,  ///< payload = CommId; starts when every member of the group has arrived
    Send,        ///< payload = CommId; starts when its receive has arrived, and the other way round
    Recv,
    Allocate,  ///< payload = row of tensor_lists; takes no time, happens when its stream reaches it
    Free,
    HostWait  ///< the host stops issuing until what it waits for is done
};

/// What an instruction is for: colours of the timeline, and the split of a rank's time.
enum class Work : std::uint8_t {
    Forward,
    Backward,  ///< input and weight gradients together, or of both
    InputGradient,
    WeightGradient,
    Recompute,
    Optimizer,  ///< gradient norm, clip, step, zeroing
    Communication
};

/// What the host pays to issue an instruction; priced by ProgramSet::launch_costs.
enum class LaunchClass : std::uint8_t { Free, Kernel, Collective, PointToPoint };
inline constexpr std::size_t kNumLaunchClasses = 4;

enum class MemoryCategory : std::uint8_t {
    Parameters,
    Gradients,
    Optimizer,
    Activations,
    Communication,
    Workspace,
    Framework
};
inline constexpr std::size_t kNumMemoryCategories = 7;

enum class CollectiveKind : std::uint8_t {
    AllReduce,
    AllGather,
    ReduceScatter,
    Broadcast,
    AllToAll,
    SendRecv
};

/// The parallel dimension that a communication belongs to in the report.
enum class Dimension : std::uint8_t { Tensor, Context, Expert, Pipeline, Data };
inline constexpr std::size_t kNumDimensions = 5;

/// One communication, as the ledger lists it. `bytes` is nccl-tests' size (AllGather: output,
/// ReduceScatter: input, SendRecv: message).
struct Communication {
    CollectiveKind kind = CollectiveKind::AllReduce;
    Dimension dimension = Dimension::Tensor;
    GroupKind group = GroupKind::Tensor;
    std::int64_t bytes = 0;
    std::int64_t peer_stage = 0;  ///< pipeline coordinate of the other end of a Send or Recv
    NameId name{};                ///< "gradient reduce-scatter", "qkv input gather", …

    friend auto operator<=>(const Communication&, const Communication&) = default;
};

/// A kind of tensor: many instances of it may be alive at once.
struct TensorRow {
    NameId name{};
    MemoryCategory category = MemoryCategory::Activations;
    std::int64_t bytes = 0;

    friend auto operator<=>(const TensorRow&, const TensorRow&) = default;
};

/// One line of a Program. It becomes ready when its stream has finished everything before it, every
/// awaited instruction is done and the host has issued it.
struct Instruction {
    InstructionKind kind = InstructionKind::Kernel;
    StreamKind stream = StreamKind::Compute;
    Work work = Work::Forward;
    LaunchClass launch = LaunchClass::Kernel;
    std::uint32_t payload = 0;
    std::uint32_t first_wait = 0;  ///< into Program::waits
    std::uint32_t num_waits = 0;
    std::uint32_t tag = 0;         ///< Send and Recv with equal ends and tags belong together
    std::int32_t microbatch = -1;  ///< −1: of no micro-batch
    std::int16_t layer = -1;       ///< model-wide number; −1: of no layer
    std::int16_t chunk = 0;        ///< virtual stage on this rank
    NameId name{};                 ///< "qkv", "core_attention", …
};

/// What one rank runs in one step, in the order in which its host issues it.
/// Invariant: every wait names an earlier instruction; see check.hpp for the rest.
struct Program {
    std::int64_t stage = 0;  ///< pipeline coordinate
    std::vector<Instruction> instructions;
    std::vector<InstructionId> waits;
    IdVector<TensorId, TensorRow> tensors;
    std::vector<std::vector<TensorId>> tensor_lists;  ///< what one Allocate or Free handles
    std::vector<TensorId> persistent;                 ///< alive from before the step to after it
};

/// The Programs of a job.
struct ProgramSet {
    IdVector<ProgramId, Program> programs;
    std::vector<ProgramId> program_of_stage;  ///< by pipeline coordinate
    IdVector<CommId, Communication> communications;
    IdVector<NameId, std::string> names;
    std::array<SimTime, kNumLaunchClasses> launch_costs{};
    bool crosses_step_border = false;  ///< steps overlap: simulate several until two agree
};

[[nodiscard]] const char* to_string(StreamKind stream);
[[nodiscard]] const char* to_string(Work work);
[[nodiscard]] const char* to_string(MemoryCategory category);  ///< "parameters", … as in the JSON
[[nodiscard]] const char* to_string(CollectiveKind kind);      ///< "AllReduce": NCCL's spelling
[[nodiscard]] const char* to_string(Dimension dimension);      ///< "tensor", … as in the JSON

}  // namespace orrery
