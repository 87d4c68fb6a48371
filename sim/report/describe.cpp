// SPDX-License-Identifier: Apache-2.0
#include "report/describe.hpp"

#include <fmt/format.h>

#include <array>

namespace orrery {

namespace {

std::string schedule_words(const Plan& plan) {
    switch (plan.schedule) {
        case ScheduleKind::GPipe:
            return "GPipe";
        case ScheduleKind::OneFOneB:
            return "1F1B";
        case ScheduleKind::Interleaved:
            return fmt::format("interleaved 1F1B, {} chunks", plan.virtual_stages);
        case ScheduleKind::File:
            return "schedule of " + plan.schedule_file;
    }
    return "?";
}

std::string recompute_words(const Plan& plan) {
    switch (plan.recompute) {
        case Recompute::None:
            return "no recomputation";
        case Recompute::Selective:
            return "selective recomputation";
        case Recompute::Full:
            return fmt::format(
                "full recomputation ({} {})",
                plan.recompute_method == RecomputeMethod::Uniform ? "uniform" : "block",
                plan.recompute_layers);
    }
    return "?";
}

std::string sharding_words(const Plan& plan) {
    const char* kind =
        plan.data_parallel_kind == DataParallelKind::Ddp ? "DDP" : "distributed optimizer";
    return fmt::format("{}{}", kind, plan.overlap_grad_reduce ? "" : ", not overlapped");
}

const char* precision_word(Precision precision) {
    constexpr std::array<const char*, 7> kWords{"bf16",       "fp16",  "fp8",  "fp8 row-wise",
                                                "fp8 blocks", "mxfp8", "nvfp4"};
    return kWords.at(static_cast<std::size_t>(precision));
}

}  // namespace

std::string format_count(double value) {
    constexpr std::array<const char*, 7> kPrefixes{"", "k", "M", "G", "T", "P", "E"};
    std::size_t prefix = 0;
    while (value >= 999.95 && prefix + 1 < kPrefixes.size()) {
        value /= 1000.0;
        ++prefix;
    }
    return fmt::format("{:.4g} {}", value, kPrefixes.at(prefix));
}

const char* link_name(LinkKind link) {
    switch (link) {
        case LinkKind::Local:
            return "local";
        case LinkKind::Nvlink:
            return "nvlink";
        case LinkKind::Pcie:
            return "pcie";
        case LinkKind::Nic:
            return "nic";
    }
    return "?";
}

std::vector<std::string> describe_job(const ResultInput& input) {
    const Plan& plan = input.plan;
    const Cluster& cluster = input.cluster;
    const Training& training = input.training;
    const std::int64_t microbatches =
        num_microbatches(plan, training.global_batch, training.micro_batch);
    const auto parameters = static_cast<double>(total_parameters(input.model));
    const bool is_large = parameters >= 1e9;
    std::string split = fmt::format("tensor {}{}", plan.tensor,
                                    plan.sequence_parallel ? " (sequence parallel)" : "");
    split += fmt::format(" × pipeline {}", plan.pipeline);
    if (plan.pipeline > 1) {
        split += " (" + schedule_words(plan) + ")";
    }
    if (plan.context > 1) {
        split += fmt::format(" × context {}", plan.context);
    }
    split += fmt::format(" × data {}", plan.data);
    return {
        fmt::format("{}, {:.4g} {} parameters, {}, on {} × {} ({}, {})", input.model.name,
                    parameters * (is_large ? 1e-9 : 1e-6), is_large ? "billion" : "million",
                    precision_word(training.precision), cluster.gpus, cluster.gpu, cluster.preset,
                    cluster.fabric),
        split,
        fmt::format("{} × {} tokens in {} micro-batch{} of {}; {}; {}", training.global_batch,
                    training.sequence_length, microbatches, microbatches == 1 ? "" : "es",
                    training.micro_batch, sharding_words(plan), recompute_words(plan)),
    };
}

}  // namespace orrery
