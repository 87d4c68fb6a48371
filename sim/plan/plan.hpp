// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/dtype.hpp"

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace orrery {

/// An axis of the rank mesh.
enum class Axis : std::uint8_t { Tensor, Context, Expert, Data, Pipeline };

enum class DataParallelKind : std::uint8_t { Ddp, DistributedOptimizer };
enum class ZeroStage : std::uint8_t { None, Optimizer, Gradients, Parameters };
enum class ScheduleKind : std::uint8_t { GPipe, OneFOneB, Interleaved, File };
enum class Recompute : std::uint8_t { None, Selective, Full };

/// Uniform: every chunk of `recompute_layers` layers keeps its input. Block: the first
/// `recompute_layers` layers of a virtual stage are recomputed one by one, the others keep
/// everything.
enum class RecomputeMethod : std::uint8_t { Uniform, Block };

/// How a training run is split over ranks. Pure data; every field is resolved (no "unset").
struct Plan {
    std::int64_t tensor = 1;
    std::int64_t pipeline = 1;
    std::int64_t virtual_stages = 1;  ///< chunks a rank
    std::int64_t microbatch_group =
        0;  ///< of the interleaved schedule; resolved to `pipeline` where unset
    std::int64_t context = 1;
    std::int64_t expert = 1;
    std::int64_t data = 1;
    /// Layers of each virtual stage in order (p·v entries), embedding and loss not counted.
    std::vector<std::int64_t> stage_layers;
    std::array<Axis, 5> rank_order{Axis::Tensor, Axis::Context, Axis::Expert, Axis::Data,
                                   Axis::Pipeline};
    bool sequence_parallel = false;

    DataParallelKind data_parallel_kind = DataParallelKind::DistributedOptimizer;
    ZeroStage zero = ZeroStage::Optimizer;
    std::int64_t bucket_size =
        40'000'000;  ///< parameters; resolved to max(40e6, 1e6·D) where unset
    Dtype grad_reduce_dtype = Dtype::Fp32;
    bool overlap_grad_reduce = true;
    bool overlap_param_gather = true;

    ScheduleKind schedule = ScheduleKind::OneFOneB;
    std::string schedule_file;  ///< of ScheduleKind::File
    std::vector<std::string>
        schedule_order;  ///< its lines, one a stage (read by the scenario reader)
    bool overlap_p2p = false;
    bool deallocate_outputs = true;

    Recompute recompute = Recompute::None;
    RecomputeMethod recompute_method = RecomputeMethod::Uniform;
    std::int64_t recompute_layers = 1;

    friend bool operator==(const Plan&, const Plan&) = default;
};

/// Layers on each of `stages` virtual stages. Embedding and loss may each count as one layer of the
/// first and last; where the total does not divide, the first virtual stages take one more each.
/// Requires: stages >= 1, layers >= stages − counted extras.
[[nodiscard]] std::vector<std::int64_t> split_layers(std::int64_t layers, std::int64_t stages,
                                                     bool embedding_as_layer, bool loss_as_layer);

/// Micro-batches a data-parallel replica runs in a step: global_batch / (micro_batch · data).
[[nodiscard]] std::int64_t num_microbatches(const Plan& plan, std::int64_t global_batch,
                                            std::int64_t micro_batch);

}  // namespace orrery
