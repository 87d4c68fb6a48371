// SPDX-License-Identifier: Apache-2.0
#include "model/flop_count.hpp"
#include "report/describe.hpp"
#include "report/result.hpp"

#include <nlohmann/json.hpp>

namespace orrery {

namespace {

using Json = nlohmann::ordered_json;

std::int64_t whole(Bytes bytes) {
    return static_cast<std::int64_t>(bytes.si());
}

Json by_category(const std::array<std::int64_t, kNumMemoryCategories>& bytes) {
    Json object = Json::object();
    for (std::size_t c = 0; c < kNumMemoryCategories; ++c) {
        object[to_string(static_cast<MemoryCategory>(c))] = bytes.at(c);
    }
    return object;
}

Json stage_object(const StageResult& stage) {
    return Json{{"stage", stage.stage},
                {"layers", stage.layers},
                {"peak_memory_bytes", whole(stage.peak_memory)},
                {"memory_at_peak", by_category(stage.at_peak)},
                {"busy_fraction", stage.busy_fraction},
                {"bubble_fraction", stage.bubble_fraction}};
}

Json ledger_object(const LedgerRow& row) {
    return Json{{"dimension", to_string(row.dimension)},
                {"collective", to_string(row.collective)},
                {"name", row.name},
                {"group_size", row.group_size},
                {"bytes_per_call", row.bytes_per_call},
                {"ranks", row.ranks},
                {"calls_per_step", row.calls_per_step},
                {"link", link_name(row.link)},
                {"time_s", row.time.si()},
                {"exposed_s", row.exposed.si()}};
}

void add_speed(const Result& result, Json& json) {
    json["step_time_s"] = result.step_time.si();
    json["tokens_per_s"] = result.tokens_per_s;
    json["tokens_per_s_per_gpu"] = result.tokens_per_s_per_gpu;
    json["flop_convention"] = to_string(result.flop_convention);
    json["model_flop_per_step"] = result.model_flop.si();
    json["hardware_flop_per_step"] = result.hardware_flop.si();
    json["peak_flop_per_s"] = result.peak_flop.si();
    json["model_tflops_per_gpu"] = result.model_flop_per_gpu.si() * 1e-12;
    json["mfu"] = result.mfu;
    json["hfu"] = result.hfu;
    json["bubble_fraction"] = result.bubble_fraction;
    json["overlap_fraction"] = result.overlap_fraction;
    Json exposed = Json::object();
    for (std::size_t d = 0; d < kNumDimensions; ++d) {
        exposed[to_string(static_cast<Dimension>(d))] = result.exposed_communication.at(d).si();
    }
    json["exposed_comm_s"] = exposed;
    json["time_s"] = Json{{"compute", result.compute.si()},
                          {"exposed_communication", result.exposed.si()},
                          {"bubble", result.bubble.si()},
                          {"optimizer", result.optimizer.si()},
                          {"host", result.host.si()}};
    json["worst_rank"] = result.worst_rank;
}

void add_memory(const Result& result, Json& json) {
    json["peak_memory_bytes"] = whole(result.peak_memory);
    json["peak_reserved_bytes"] =
        result.is_reserved_known ? Json(whole(result.peak_reserved)) : Json(nullptr);
    json["peak_memory_rank"] = result.peak_memory_rank;
    json["memory_capacity_bytes"] = whole(result.memory_capacity);
    json["memory_at_peak"] = by_category(result.memory_at_peak);
}

}  // namespace

std::string json_report(const Result& result) {
    Json json = Json::object();
    json["schema_version"] = 1;
    json["scenario"] = result.scenario;
    json["gpus"] = result.gpus;
    json["feasible"] = result.is_feasible;
    json["memory_margin"] = result.memory_margin;
    add_speed(result, json);
    add_memory(result, json);
    json["stages"] = Json::array();
    for (const StageResult& stage : result.stages) {
        json["stages"].push_back(stage_object(stage));
    }
    json["communication"] = Json::array();
    for (const LedgerRow& row : result.communication) {
        json["communication"].push_back(ledger_object(row));
    }
    json["kernel_time_source"] = Json{{"measured", result.kernel_time_source[0]},
                                      {"interpolated", result.kernel_time_source[1]},
                                      {"roofline", result.kernel_time_source[2]}};
    json["notes"] = result.notes;
    json["deadlock"] = result.deadlock;
    json["is_steady"] = result.is_steady;
    json["events"] = result.events;
    json["simulated_ranks"] = result.simulated_ranks;
    json["steps_simulated"] = result.steps_simulated;
    json["wall_time_s"] = result.wall_time;
    // Names may come from a user's file: bytes that are not UTF-8 are replaced, not thrown at.
    return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace orrery
