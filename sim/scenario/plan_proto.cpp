// SPDX-License-Identifier: Apache-2.0
#include "scenario/enum_pairs.hpp"
#include "scenario/proto_fields.hpp"
#include "scenario/shipped.hpp"
#include "schema/scenario.pb.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <sstream>
#include <string_view>

namespace orrery {
namespace {

constexpr EnumPairs<schema::DataParallel::Kind, DataParallelKind, 2> kDataKinds{
    {{schema::DataParallel::DDP, DataParallelKind::Ddp},
     {schema::DataParallel::DISTRIBUTED_OPTIMIZER, DataParallelKind::DistributedOptimizer}}};
constexpr EnumPairs<schema::Zero::Stage, ZeroStage, 4> kZeroStages{
    {{schema::Zero::NONE, ZeroStage::None},
     {schema::Zero::OPTIMIZER, ZeroStage::Optimizer},
     {schema::Zero::GRADIENTS, ZeroStage::Gradients},
     {schema::Zero::PARAMETERS, ZeroStage::Parameters}}};
constexpr EnumPairs<schema::Schedule::Kind, ScheduleKind, 4> kSchedules{
    {{schema::Schedule::ONE_F_ONE_B, ScheduleKind::OneFOneB},
     {schema::Schedule::GPIPE, ScheduleKind::GPipe},
     {schema::Schedule::INTERLEAVED, ScheduleKind::Interleaved},
     {schema::Schedule::FILE, ScheduleKind::File}}};
constexpr EnumPairs<schema::Recompute::Kind, Recompute, 3> kRecomputes{
    {{schema::Recompute::NONE, Recompute::None},
     {schema::Recompute::SELECTIVE, Recompute::Selective},
     {schema::Recompute::FULL, Recompute::Full}}};
constexpr EnumPairs<schema::Recompute::Method, RecomputeMethod, 2> kMethods{
    {{schema::Recompute::UNIFORM, RecomputeMethod::Uniform},
     {schema::Recompute::BLOCK, RecomputeMethod::Block}}};
constexpr EnumPairs<schema::GradReduce::Dtype, Dtype, 3> kReduceDtypes{
    {{schema::GradReduce::FP32, Dtype::Fp32},
     {schema::GradReduce::BF16, Dtype::Bf16},
     {schema::GradReduce::FP16, Dtype::Fp16}}};

struct AxisName {
    std::string_view name;
    Axis axis;
};

constexpr std::array<AxisName, 5> kAxes{{{"tp", Axis::Tensor},
                                         {"cp", Axis::Context},
                                         {"ep", Axis::Expert},
                                         {"dp", Axis::Data},
                                         {"pp", Axis::Pipeline}}};

/// "tp-cp-ep-dp-pp": each axis once. No value otherwise.
std::optional<std::array<Axis, 5>> parse_rank_order(const std::string& text) {
    std::array<Axis, 5> order{};
    std::size_t count = 0;
    std::istringstream parts(text);
    for (std::string part; std::getline(parts, part, '-'); ++count) {
        const auto axis = std::ranges::find(kAxes, part, &AxisName::name);
        auto* const seen_end = order.begin() + std::min<std::size_t>(count, order.size());
        if (axis == kAxes.end() || count >= order.size() ||
            std::find(order.begin(), seen_end, axis->axis) != seen_end) {
            return std::nullopt;
        }
        order[count] = axis->axis;
    }
    return count == order.size() ? std::optional(order) : std::nullopt;
}

std::string rank_order_text(const std::array<Axis, 5>& order) {
    std::string text;
    for (const Axis axis : order) {
        text += (text.empty() ? "" : "-") +
                std::string(std::ranges::find(kAxes, axis, &AxisName::axis)->name);
    }
    return text;
}

void read_degrees(const schema::Plan& message, const PlanDefaults& defaults, Plan& plan,
                  InputSources& sources) {
    plan.tensor = message.has_tensor() ? message.tensor() : 1;
    plan.pipeline = message.has_pipeline() ? message.pipeline() : 1;
    plan.virtual_stages = message.has_virtual_stages() ? message.virtual_stages() : 1;
    // 1 where the degrees alone are too many: check_plan then says so.
    plan.data = message.data() > 0
                    ? message.data()
                    : std::max<std::int64_t>(1, defaults.gpus / plan.tensor / plan.pipeline);
    plan.sequence_parallel = message.sequence_parallel() && plan.tensor > 1;
    if (message.has_rank_order()) {
        if (const auto order = parse_rank_order(message.rank_order())) {
            plan.rank_order = *order;
        } else {
            sources.add_error(
                "plan.rank_order",
                fmt::format("\"{}\" is not an order of the axes", message.rank_order()),
                "each of tp, cp, ep, dp, pp once, the fastest first: \"tp-cp-ep-dp-pp\"");
        }
    }
}

void read_stages(const schema::Plan& message, const PlanDefaults& defaults, Plan& plan,
                 InputSources& sources) {
    const std::int64_t stages = plan.pipeline * plan.virtual_stages;
    const bool embedding = message.embedding_as_layer();
    const bool loss = message.loss_as_layer();
    if (message.stage_layers_size() > 0) {
        plan.stage_layers.assign(message.stage_layers().begin(), message.stage_layers().end());
        for (const char* path : {"plan.embedding_as_layer", "plan.loss_as_layer"}) {
            if (path == std::string_view("plan.loss_as_layer") ? loss : embedding) {
                sources.add_error(path, "has no effect beside plan.stage_layers",
                                  "set one of the two");
            }
        }
    } else if (defaults.model.layers >= stages - (embedding ? 1 : 0) - (loss ? 1 : 0)) {
        plan.stage_layers = split_layers(defaults.model.layers, stages, embedding, loss);
    }
}

Dtype default_reduce_dtype(const Training& training) {
    if (training.recipe == Recipe::Fp32MainGrads || training.recipe == Recipe::Fp32Params) {
        return Dtype::Fp32;
    }
    return training.precision == Precision::Fp16 ? Dtype::Fp16 : Dtype::Bf16;
}

void read_data_parallel(const schema::Plan& message, const PlanDefaults& defaults, Plan& plan,
                        InputSources& sources) {
    if (message.has_data_parallel_kind()) {
        plan.data_parallel_kind = from_schema(kDataKinds, message.data_parallel_kind());
    } else if (message.has_zero()) {
        plan.data_parallel_kind = message.zero() == schema::Zero::NONE
                                      ? DataParallelKind::Ddp
                                      : DataParallelKind::DistributedOptimizer;
    }
    const bool sharded = plan.data_parallel_kind == DataParallelKind::DistributedOptimizer;
    plan.zero = message.has_zero() ? from_schema(kZeroStages, message.zero())
                                   : (sharded ? ZeroStage::Optimizer : ZeroStage::None);
    const std::int64_t usual =
        std::max<std::int64_t>(40'000'000, 1'000'000 * plan.data * plan.context);
    plan.bucket_size = message.has_bucket_size() ? message.bucket_size() : usual;
    plan.grad_reduce_dtype = message.has_grad_reduce_dtype()
                                 ? from_schema(kReduceDtypes, message.grad_reduce_dtype())
                                 : default_reduce_dtype(defaults.training);
    const Dtype other = defaults.training.precision == Precision::Fp16 ? Dtype::Bf16 : Dtype::Fp16;
    if (plan.grad_reduce_dtype == other) {
        sources.add_error(
            "plan.grad_reduce_dtype", {"plan.grad_reduce_dtype", "training.precision"},
            "16-bit gradients are reduced in the number format of training.precision", "");
    }
    plan.overlap_grad_reduce = !message.has_overlap_grad_reduce() || message.overlap_grad_reduce();
    plan.overlap_param_gather =
        message.has_overlap_param_gather() ? message.overlap_param_gather() : sharded;
    if (!plan.overlap_grad_reduce && plan.bucket_size != usual) {
        sources.add_error("plan.bucket_size", {"plan.bucket_size", "plan.overlap_grad_reduce"},
                          "has no effect without overlap_grad_reduce: there is one bucket", "");
    }
    if ((!sharded || !plan.overlap_grad_reduce) &&
        !sources.is_set_by_user("plan.overlap_param_gather")) {
        plan.overlap_param_gather = false;
    }
}

void read_schedule_file(const schema::Plan& message, const PlanDefaults& defaults, Plan& plan,
                        InputSources& sources) {
    const bool is_file = plan.schedule == ScheduleKind::File;
    if (is_file != message.has_schedule_file()) {
        sources.add_error(
            "plan.schedule_file", {"plan.schedule_file", "plan.schedule"},
            is_file ? "is required by schedule FILE" : "has no effect without schedule FILE", "");
        return;
    }
    if (!is_file) {
        return;
    }
    plan.schedule_file = path_beside(defaults.scenario_file, message.schedule_file());
    const auto text = read_text_file(plan.schedule_file);
    if (!text) {
        sources.add_error("plan.schedule_file",
                          plan.schedule_file + " " + text.error().front().message);
        return;
    }
    std::istringstream lines(*text);
    for (std::string line; std::getline(lines, line);) {
        line.resize(std::min(line.find('#'), line.size()));
        if (line.find_first_not_of(" \t\r") != std::string::npos) {
            plan.schedule_order.push_back(line);
        }
    }
}

void read_schedule(const schema::Plan& message, const PlanDefaults& defaults, Plan& plan,
                   InputSources& sources) {
    plan.schedule = plan.virtual_stages > 1 && plan.pipeline > 1 ? ScheduleKind::Interleaved
                                                                 : ScheduleKind::OneFOneB;
    if (message.has_schedule()) {
        plan.schedule = from_schema(kSchedules, message.schedule());
    }
    const bool is_interleaved = plan.schedule == ScheduleKind::Interleaved;
    plan.microbatch_group =
        message.has_microbatch_group() ? message.microbatch_group() : plan.pipeline;
    if (message.has_microbatch_group() && !is_interleaved &&
        message.microbatch_group() != plan.pipeline) {
        sources.add_error("plan.microbatch_group", {"plan.microbatch_group", "plan.schedule"},
                          "has no effect without schedule INTERLEAVED", "");
    }
    plan.overlap_p2p =
        message.overlap_p2p() && (is_interleaved || sources.is_set_by_user("plan.overlap_p2p"));
    plan.deallocate_outputs = !message.has_deallocate_outputs() || message.deallocate_outputs();
    read_schedule_file(message, defaults, plan, sources);
}

void read_recompute(const schema::Plan& message, Plan& plan, InputSources& sources) {
    plan.recompute = from_schema(kRecomputes, message.recompute());
    plan.recompute_method = from_schema(kMethods, message.recompute_method());
    plan.recompute_layers = message.has_recompute_layers() ? message.recompute_layers() : 1;
    if (plan.recompute == Recompute::Full) {
        return;
    }
    const auto refuse = [&sources](const char* path) {
        sources.add_error(path, {path, "plan.recompute"}, "has no effect without recompute FULL",
                          "");
    };
    if (plan.recompute_layers != 1) {
        refuse("plan.recompute_layers");
    }
    if (plan.recompute_method != RecomputeMethod::Uniform) {
        refuse("plan.recompute_method");
    }
}

}  // namespace

Plan read_plan(const schema::Plan& message, const PlanDefaults& defaults, InputSources& sources) {
    Plan plan;
    read_degrees(message, defaults, plan, sources);
    read_stages(message, defaults, plan, sources);
    read_data_parallel(message, defaults, plan, sources);
    read_schedule(message, defaults, plan, sources);
    read_recompute(message, plan, sources);
    return plan;
}

void write_plan(const Plan& plan, schema::Plan& message) {
    message.set_tensor(plan.tensor);
    message.set_pipeline(plan.pipeline);
    message.set_virtual_stages(plan.virtual_stages);
    message.set_microbatch_group(plan.microbatch_group);
    message.mutable_stage_layers()->Add(plan.stage_layers.begin(), plan.stage_layers.end());
    message.set_context(plan.context);
    message.set_expert(plan.expert);
    message.set_data(plan.data);
    message.set_rank_order(rank_order_text(plan.rank_order));
    message.set_sequence_parallel(plan.sequence_parallel);
    message.set_data_parallel_kind(to_schema(kDataKinds, plan.data_parallel_kind));
    message.set_zero(to_schema(kZeroStages, plan.zero));
    message.set_bucket_size(plan.bucket_size);
    message.set_grad_reduce_dtype(to_schema(kReduceDtypes, plan.grad_reduce_dtype));
    message.set_overlap_grad_reduce(plan.overlap_grad_reduce);
    message.set_overlap_param_gather(plan.overlap_param_gather);
    message.set_schedule(to_schema(kSchedules, plan.schedule));
    if (!plan.schedule_file.empty()) {
        message.set_schedule_file(plan.schedule_file);
    }
    message.set_overlap_p2p(plan.overlap_p2p);
    message.set_deallocate_outputs(plan.deallocate_outputs);
    message.set_recompute(to_schema(kRecomputes, plan.recompute));
    message.set_recompute_method(to_schema(kMethods, plan.recompute_method));
    message.set_recompute_layers(plan.recompute_layers);
}

}  // namespace orrery
