// SPDX-License-Identifier: Apache-2.0
#include "scenario/field_rules.hpp"

#include "scenario/message_fields.hpp"
#include "schema/scenario.pb.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

namespace orrery {
namespace {

struct Range {
    std::string_view path;
    double least;
    double most;
};

// The upper ends only keep products of a few of these within 63 bits and a typing error from taking
// all memory; nothing that is trained comes near them.
constexpr std::array kRanges{
    Range{"model.layers", 1, 10'000},
    Range{"model.hidden", 1, 1'048'576},
    Range{"model.ffn_hidden", 1, 4'194'304},
    Range{"model.heads", 1, 65'536},
    Range{"model.kv_heads", 1, 65'536},
    Range{"model.head_dim", 1, 65'536},
    Range{"model.vocab", 1, 16'777'216},
    Range{"model.vocab_divisible_by", 1, 65'536},
    Range{"model.max_positions", 0, 67'108'864},
    Range{"model.sliding_window", 0, 67'108'864},
    Range{"model.window_every", 1, 10'000},
    Range{"model.dropout", 0, 0.99},
    Range{"training.sequence_length", 1, 67'108'864},
    Range{"training.global_batch", 1, 16'777'216},
    Range{"training.micro_batch", 1, 65'536},
    Range{"training.mtp_layers", 0, 1'000},
    Range{"cluster.nodes", 1, 1'048'576},
    Range{"cluster.gpus", 0, 1'048'576},
    Range{"cluster.gpus_per_node", 1, 1'024},
    Range{"cluster.gpus_per_domain", 1, 65'536},
    Range{"cluster.nics_per_node", 1, 1'024},
    Range{"plan.tensor", 1, 65'536},
    Range{"plan.pipeline", 1, 65'536},
    Range{"plan.virtual_stages", 1, 1'024},
    Range{"plan.microbatch_group", 1, 16'777'216},
    Range{"plan.stage_layers", 0, 10'000},
    Range{"plan.context", 1, 65'536},
    Range{"plan.expert", 1, 65'536},
    Range{"plan.expert_tensor", 1, 65'536},
    Range{"plan.data", 0, 1'048'576},
    Range{"plan.hybrid_shard_size", 1, 1'048'576},
    Range{"plan.bucket_size", 1, 1e12},
    Range{"plan.recompute_layers", 1, 10'000},
    Range{"plan.context_inner", 1, 65'536},
    Range{"plan.capacity_factor", 0, 1'000},
};

/// A field of which only these values are honoured; none listed: it may not be set at all.
struct Limited {
    std::string_view path;
    std::vector<std::string_view> built;
};

const std::vector<Limited>& limited_fields() {
    static const std::vector<Limited> kLimited{
        {"plan.context", {"1"}},
        {"plan.context_kind", {"RING"}},
        {"plan.context_inner", {"1"}},
        {"plan.expert", {"1"}},
        {"plan.expert_tensor", {"1"}},
        {"plan.expert_dispatcher", {"ALLTOALL"}},
        {"plan.expert_overlap", {"false"}},
        {"plan.capacity_factor", {}},
        {"plan.data_parallel_kind", {"DDP", "DISTRIBUTED_OPTIMIZER"}},
        {"plan.zero", {"NONE", "OPTIMIZER"}},
        {"plan.reshard_after_forward", {}},
        {"plan.hybrid_shard_size", {}},
        {"plan.schedule", {"GPIPE", "ONE_F_ONE_B", "INTERLEAVED", "FILE"}},
        {"plan.optimizer_barrier", {"true"}},
        {"plan.tensor_overlap", {"NONE"}},
        {"plan.recompute_modules", {}},
        {"plan.offload", {"NONE"}},
        {"training.sequence_histogram", {}},
        {"training.precision", {"BF16", "FP16"}},
        {"training.recipe", {"FP32_MAIN_GRADS", "CLASSIC", "PURE"}},
        {"training.optimizer", {"ADAM"}},
        {"training.compile", {"false"}},
        {"training.cuda_graphs", {"false"}},
        {"training.expert_load", {"BALANCED"}},
        {"training.mtp_layers", {"0"}},
        {"training.seed", {"1"}},  // nothing draws random numbers yet
        {"network.algorithm", {"AUTO"}},
        {"network.protocol", {"AUTO"}},
        {"network.nvls", {"DEFAULT"}},
        {"network.routing", {"SPREAD"}},
    };
    return kLimited;
}

std::string_view without_index(std::string_view path) {
    return path.substr(0, path.find('['));
}

bool check_range(const SetField& field, InputSources& sources) {
    const auto range = std::ranges::find(kRanges, without_index(field.path), &Range::path);
    if (!field.is_numeric || range == kRanges.end() ||
        (field.number >= range->least && field.number <= range->most)) {
        return true;
    }
    sources.add_error(field.path, fmt::format("{} is out of range", field.value),
                      fmt::format("from {} to {}", range->least, range->most));
    return false;
}

void check_built(const SetField& field, InputSources& sources) {
    const auto limited =
        std::ranges::find(limited_fields(), without_index(field.path), &Limited::path);
    if (limited == limited_fields().end() ||
        std::ranges::find(limited->built, field.value) != limited->built.end()) {
        return;
    }
    sources.add_error(field.path, fmt::format("{} is not built yet", field.value),
                      limited->built.empty()
                          ? "leave it unset"
                          : fmt::format("built: {}", fmt::join(limited->built, ", ")));
}

}  // namespace

void check_fields(const schema::Scenario& merged, InputSources& sources) {
    for_each_set_field(merged, [&sources](const SetField& field) {
        if (check_range(field, sources)) {
            check_built(field, sources);
        }
    });
}

}  // namespace orrery
