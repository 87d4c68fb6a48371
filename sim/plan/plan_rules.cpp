// SPDX-License-Identifier: Apache-2.0
#include "plan/plan_rules.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <utility>

namespace orrery {
namespace {

using Violations = std::vector<RuleViolation>;

void add(Violations& found, std::vector<std::string> reads, std::string message,
         std::string hint = "") {
    RuleViolation violation;
    violation.field = reads.front();
    violation.reads = std::move(reads);
    violation.message = std::move(message);
    violation.hint = std::move(hint);
    found.push_back(std::move(violation));
}

/// Tensor degrees up to 64 that the model allows.
std::string valid_tensor(const Transformer& model) {
    const std::int64_t common = std::gcd(std::gcd(model.heads, model.kv_heads), model.ffn_hidden);
    std::vector<std::int64_t> valid;
    for (std::int64_t t = 1; t <= std::min<std::int64_t>(common, 64); ++t) {
        if (common % t == 0) {
            valid.push_back(t);
        }
    }
    return fmt::format("valid for this model: {}", fmt::join(valid, ", "));
}

void check_tensor(const PlanContext& in, Violations& found) {
    const std::int64_t t = in.plan.tensor;
    const Transformer& m = in.model;
    if (m.heads % t != 0) {
        add(found, {"plan.tensor", "model.heads"},
            fmt::format("tensor = {} does not divide model.heads = {}", t, m.heads),
            valid_tensor(m));
    }
    if (m.kv_heads < t) {
        add(found, {"plan.tensor", "model.kv_heads"},
            fmt::format(
                "tensor = {} is more than model.kv_heads = {}: ranks would have to hold copies of "
                "the key and value heads, which is not built yet",
                t, m.kv_heads),
            valid_tensor(m));
    } else if (m.kv_heads % t != 0) {
        add(found, {"plan.tensor", "model.kv_heads"},
            fmt::format("tensor = {} does not divide model.kv_heads = {}", t, m.kv_heads),
            valid_tensor(m));
    }
    if (m.ffn_hidden % t != 0) {
        add(found, {"plan.tensor", "model.ffn_hidden"},
            fmt::format("tensor = {} does not divide model.ffn_hidden = {}", t, m.ffn_hidden),
            valid_tensor(m));
    }
    if (in.plan.sequence_parallel && in.training.sequence_length % (t * in.plan.context) != 0) {
        add(found,
            {"training.sequence_length", "plan.tensor", "plan.context", "plan.sequence_parallel"},
            fmt::format(
                "sequence_length = {} is not divisible by tensor x context = {} x {}, which "
                "sequence_parallel needs",
                in.training.sequence_length, t, in.plan.context),
            fmt::format("use a multiple of {}", t * in.plan.context));
    }
}

void check_degrees(const PlanContext& in, Violations& found) {
    const Plan& p = in.plan;
    __extension__ using Wide = __int128;  // four degrees of up to 2^31
    const Wide product = Wide{p.tensor} * p.pipeline * p.context * p.data;
    if (product == in.cluster.gpus) {
        return;
    }
    const Wide rest = Wide{p.tensor} * p.pipeline * p.context;
    std::string hint = "plan.data = 0 takes what is left";
    if (rest > in.cluster.gpus || in.cluster.gpus % static_cast<std::int64_t>(rest) != 0) {
        hint = fmt::format("tensor x pipeline x context must divide the number of GPUs = {}",
                           in.cluster.gpus);
    }
    const std::string shown =
        product > INT64_MAX ? "over 2^63" : std::to_string(static_cast<std::int64_t>(product));
    add(found,
        {"plan.data", "plan.tensor", "plan.pipeline", "plan.context", "cluster.gpus",
         "cluster.nodes"},
        fmt::format(
            "tensor x pipeline x context x data = {} x {} x {} x {} = {}, but the job has {} GPUs",
            p.tensor, p.pipeline, p.context, p.data, shown, in.cluster.gpus),
        hint);
}

void check_batch(const PlanContext& in, Violations& found) {
    const std::int64_t one_pass = in.training.micro_batch * in.plan.data;
    if (in.training.global_batch % one_pass != 0) {
        add(found,
            {"training.global_batch", "training.micro_batch", "plan.data", "plan.tensor",
             "plan.pipeline", "plan.context", "cluster.gpus", "cluster.nodes"},
            fmt::format("global_batch = {} is not divisible by micro_batch x data = {} x {} = {}",
                        in.training.global_batch, in.training.micro_batch, in.plan.data, one_pass),
            fmt::format("use a multiple of {}", one_pass));
    }
}

void check_stages(const PlanContext& in, Violations& found) {
    const Plan& p = in.plan;
    const std::int64_t stages = p.pipeline * p.virtual_stages;
    const std::vector<std::string> reads = {"plan.stage_layers",       "plan.pipeline",
                                            "plan.virtual_stages",     "model.layers",
                                            "plan.embedding_as_layer", "plan.loss_as_layer"};
    if (p.stage_layers.empty()) {
        add(found, {"plan.pipeline", "plan.virtual_stages", "model.layers"},
            fmt::format(
                "pipeline x virtual_stages = {} x {} = {} stages are more than model.layers = {}",
                p.pipeline, p.virtual_stages, stages, in.model.layers),
            "every stage needs a layer, or the embedding or the loss counted as one");
        return;
    }
    if (static_cast<std::int64_t>(p.stage_layers.size()) != stages) {
        add(found, reads,
            fmt::format("has {} entries, but pipeline x virtual_stages = {} x {} = {}",
                        p.stage_layers.size(), p.pipeline, p.virtual_stages, stages));
    }
    const std::int64_t sum =
        std::accumulate(p.stage_layers.begin(), p.stage_layers.end(), std::int64_t{0});
    if (sum != in.model.layers) {
        add(found, reads, fmt::format("sums to {}, but model.layers = {}", sum, in.model.layers));
    }
}

void check_interleaving(const PlanContext& in, Violations& found) {
    const Plan& p = in.plan;
    const std::vector<std::string> reads = {"plan.schedule", "plan.pipeline",
                                            "plan.virtual_stages"};
    if (p.pipeline < 2 || p.virtual_stages < 2) {
        add(found, reads,
            fmt::format("INTERLEAVED needs pipeline > 1 and virtual_stages > 1, not {} and {}",
                        p.pipeline, p.virtual_stages),
            "ONE_F_ONE_B is the schedule of one stage a rank");
        return;
    }
    if (in.training.global_batch % (in.training.micro_batch * p.data) != 0) {
        return;  // told by check_batch
    }
    const std::int64_t m = num_microbatches(p, in.training.global_batch, in.training.micro_batch);
    const std::int64_t group = p.microbatch_group;
    const std::vector<std::string> group_reads = {
        "plan.microbatch_group", "plan.pipeline",         "plan.tensor",          "plan.data",
        "plan.context",          "training.global_batch", "training.micro_batch", "cluster.gpus",
        "cluster.nodes"};
    if (group < p.pipeline || group > m) {
        add(found, group_reads,
            fmt::format("microbatch_group = {} must lie between pipeline = {} and the number of "
                        "micro-batches, global_batch / (micro_batch x data) = {} / ({} x {}) = {}",
                        group, p.pipeline, in.training.global_batch, in.training.micro_batch,
                        p.data, m),
            m < p.pipeline ? "INTERLEAVED needs at least as many micro-batches as stages" : "");
    } else if (m % group != 0 && m % group < p.pipeline) {
        add(found, group_reads,
            fmt::format("{} micro-batches in groups of {} leave a last group of {}, less than "
                        "pipeline = {}",
                        m, group, m % group, p.pipeline),
            "the remainder must be 0 or at least pipeline");
    }
}

void check_schedule(const PlanContext& in, Violations& found) {
    const Plan& p = in.plan;
    switch (p.schedule) {
        case ScheduleKind::Interleaved:
            check_interleaving(in, found);
            break;
        case ScheduleKind::GPipe:
        case ScheduleKind::OneFOneB:
            if (p.virtual_stages > 1) {
                add(found, {"plan.virtual_stages", "plan.schedule"},
                    fmt::format("virtual_stages = {} needs schedule INTERLEAVED or FILE",
                                p.virtual_stages));
            }
            break;
        case ScheduleKind::File:
            if (static_cast<std::int64_t>(p.schedule_order.size()) != p.pipeline) {
                add(found, {"plan.schedule_file", "plan.pipeline", "plan.schedule"},
                    fmt::format("has {} lines, but pipeline = {}: one line a stage",
                                p.schedule_order.size(), p.pipeline));
            }
            break;
    }
}

void check_positions(const PlanContext& in, Violations& found) {
    if (in.model.position == PositionKind::Learned &&
        in.training.sequence_length > in.model.max_positions) {
        add(found, {"training.sequence_length", "model.max_positions", "model.position"},
            fmt::format("sequence_length = {} is more than model.max_positions = {}, the rows of "
                        "the learned "
                        "position table",
                        in.training.sequence_length, in.model.max_positions),
            "set model.max_positions, or a shorter sequence");
    }
}

void check_recompute(const PlanContext& in, Violations& found) {
    const Plan& p = in.plan;
    if (p.recompute != Recompute::Full || p.stage_layers.empty()) {
        return;
    }
    const std::int64_t most = *std::ranges::max_element(p.stage_layers);
    if (p.recompute_layers > most) {
        add(found,
            {"plan.recompute_layers", "plan.stage_layers", "plan.pipeline", "plan.virtual_stages",
             "model.layers"},
            fmt::format(
                "recompute_layers = {} is more than the largest virtual stage has layers ({})",
                p.recompute_layers, most));
    }
}

void check_optimizer(const PlanContext& in, Violations& found) {
    const bool sharded = in.plan.data_parallel_kind == DataParallelKind::DistributedOptimizer;
    if (sharded != (in.plan.zero == ZeroStage::Optimizer)) {
        add(found, {"plan.zero", "plan.data_parallel_kind"},
            sharded ? "DISTRIBUTED_OPTIMIZER shards the optimizer: zero must be OPTIMIZER"
                    : "DDP shards nothing: zero must be NONE",
            "set one of the two; the other follows");
    }
    if (in.plan.overlap_param_gather && !sharded) {
        add(found, {"plan.overlap_param_gather", "plan.data_parallel_kind"},
            "DDP gathers no parameters: overlap_param_gather needs DISTRIBUTED_OPTIMIZER");
    }
    if (in.plan.overlap_param_gather && !in.plan.overlap_grad_reduce) {
        add(found, {"plan.overlap_param_gather", "plan.overlap_grad_reduce"},
            "overlap_param_gather needs overlap_grad_reduce: gathers go by its buckets");
    }
    const bool has_main_gradients = in.training.recipe == Recipe::Fp32MainGrads;
    if (!has_main_gradients && in.plan.grad_reduce_dtype == Dtype::Fp32) {
        add(found, {"plan.grad_reduce_dtype", "training.recipe"},
            "recipe keeps 16-bit gradients: they are reduced as they are, not in FP32",
            "recipe FP32_MAIN_GRADS has gradients in FP32");
    }
}

}  // namespace

std::vector<RuleViolation> check_plan(const PlanContext& context) {
    Violations found;
    check_degrees(context, found);
    check_tensor(context, found);
    check_batch(context, found);
    check_stages(context, found);
    check_schedule(context, found);
    check_positions(context, found);
    check_recompute(context, found);
    check_optimizer(context, found);
    return found;
}

std::vector<std::string> plan_notes(const PlanContext& context) {
    const Plan& p = context.plan;
    std::vector<std::string> notes;
    const std::int64_t domain = context.cluster.gpus_per_domain;
    if (p.tensor > domain ||
        (p.tensor > 1 && p.rank_order[0] == Axis::Tensor && domain % p.tensor != 0)) {
        notes.push_back(
            fmt::format("tensor groups of {} leave the NVLink domain of {} GPUs: their collectives "
                        "cross the NICs",
                        p.tensor, domain));
    }
    if (!p.stage_layers.empty() &&
        *std::ranges::min_element(p.stage_layers) != *std::ranges::max_element(p.stage_layers)) {
        notes.push_back(fmt::format("layers of the {} virtual stages: {}", p.stage_layers.size(),
                                    fmt::join(p.stage_layers, " ")));
    }
    if (p.recompute == Recompute::Selective && context.training.attention == AttentionImpl::Flash) {
        notes.push_back(
            "selective recomputation drops almost nothing beside flash attention, which keeps no "
            "scores");
    }
    return notes;
}

}  // namespace orrery
