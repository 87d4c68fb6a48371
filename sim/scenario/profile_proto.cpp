// SPDX-License-Identifier: Apache-2.0
#include "base/nearest_name.hpp"
#include "base/parse_units.hpp"
#include "cost/csv_table.hpp"
#include "cost/measured_tables.hpp"
#include "scenario/profile_reader.hpp"
#include "scenario/shipped.hpp"
#include "scenario/text_format.hpp"
#include "schema/fabric_profile.pb.h"
#include "schema/gpu_profile.pb.h"

#include <cmath>
#include <map>
#include <string>
#include <vector>

namespace orrery {
namespace {

/// Bounds of dimensionless numbers: above 0, at most `most`.
struct Range {
    double most = 0.0;
};

constexpr Range kShare{1.5};    // caches let a fitted share pass 1
constexpr Range kFactor{10.0};  // a time against another
constexpr Range kPower{20.0};
constexpr Range kSpread{3.0};
constexpr Range kLength{1e6};

/// Reads fields of one file and collects what is wrong with them, each with its place.
class FieldReader {
  public:
    FieldReader(std::string file, const TextLocations& places)
        : file_(std::move(file)), places_(&places) {}

    void error(const std::string& path, const std::string& message, const std::string& hint = {}) {
        const TextPlace place = places_->find(path);
        errors_.push_back({.file = file_,
                           .line = place.line,
                           .column = place.column,
                           .field = path,
                           .message = message,
                           .hint = hint});
    }

    template <typename Q>
    Q quantity(bool is_set, const std::string& text, const std::string& path,
               bool may_be_zero = false) {
        if (!is_set) {
            error(path, "is missing");
            return Q();
        }
        const auto value = parse_quantity<Q>(text);
        if (!value) {
            error(path, value.error());
            return Q();
        }
        if (value->si() < 0.0 || (value->si() == 0.0 && !may_be_zero)) {
            error(path, "is \"" + text + "\"", may_be_zero ? "from 0 up" : "above 0");
            return Q();
        }
        return *value;
    }

    double number(bool is_set, double value, const std::string& path, Range range) {
        if (!is_set) {
            error(path, "is missing");
            return 0.0;
        }
        if (!(value > 0.0 && value <= range.most)) {
            error(path, "is " + std::to_string(value),
                  "above 0, up to " + std::to_string(range.most));
            return 0.0;
        }
        return value;
    }

    double spread(bool is_set, double value, const std::string& path) {
        return is_set && value == 0.0 ? 0.0 : number(is_set, value, path, kSpread);
    }

    std::int64_t count(bool is_set, std::int64_t value, const std::string& path) {
        if (!is_set || value < 1 || value > 1'000'000) {
            error(path, is_set ? "is " + std::to_string(value) : "is missing", "from 1 to 1000000");
            return 0;
        }
        return value;
    }

    Dtype dtype(const std::string& word, const std::string& path) {
        const auto found = parse_dtype(word);
        if (!found) {
            error(path, "there is no number format \"" + word + "\"",
                  name_hint(word, {"fp32", "bf16", "fp16", "fp8", "fp8_dynquant", "fp8_block128",
                                   "mxfp8", "nvfp4"}));
        }
        return found.value_or(Dtype::Bf16);
    }

    void add(const Diagnostics& more) { errors_.insert(errors_.end(), more.begin(), more.end()); }

    [[nodiscard]] Diagnostics take() { return std::move(errors_); }

    [[nodiscard]] bool has_errors() const { return !errors_.empty(); }

  private:
    std::string file_;
    const TextLocations* places_;
    Diagnostics errors_;
};

template <typename Q, typename Field>
Q read_quantity(FieldReader& reader, const Field& field, const std::string& path,
                bool may_be_zero = false) {
    return reader.quantity<Q>(field.has_value(), field.value(), path + ".value", may_be_zero);
}

double read_factor(FieldReader& reader, const schema::FactorField& field, const std::string& path) {
    return reader.number(field.has_value(), field.value(), path + ".value", kFactor);
}

CollectiveFit read_collective(FieldReader& reader, const schema::CollectiveFitField& field,
                              const std::string& path) {
    return {.base = reader.quantity<Seconds>(field.has_base(), field.base(), path + ".base", true),
            .step = reader.quantity<Seconds>(field.has_step(), field.step(), path + ".step", true),
            .bus_bandwidth = reader.quantity<BytesPerSecond>(
                field.has_bus_bandwidth(), field.bus_bandwidth(), path + ".bus_bandwidth"),
            .sigma = reader.spread(field.has_sigma(), field.sigma(), path + ".sigma")};
}

LinkFits read_link_fits(FieldReader& reader, const schema::LinkFitsField& field,
                        const std::string& path) {
    return {
        .all_reduce = read_collective(reader, field.all_reduce(), path + ".all_reduce"),
        .all_gather = read_collective(reader, field.all_gather(), path + ".all_gather"),
        .reduce_scatter = read_collective(reader, field.reduce_scatter(), path + ".reduce_scatter"),
        .all_to_all = read_collective(reader, field.all_to_all(), path + ".all_to_all"),
        .broadcast = read_collective(reader, field.broadcast(), path + ".broadcast"),
        .send_recv = read_collective(reader, field.send_recv(), path + ".send_recv"),
        .sms = reader.count(field.sms().has_value(), field.sms().value(), path + ".sms.value")};
}

std::string item(const char* name, int index) {
    return name + ("[" + std::to_string(index) + "]");
}

void read_products(FieldReader& reader, const schema::GpuProfile& proto, GpuProfile& profile) {
    for (int i = 0; i < proto.gemm_size(); ++i) {
        const schema::GemmFitField& field = proto.gemm(i);
        const std::string path = item("gemm", i);
        GemmFit fit{
            .t0 = reader.quantity<Seconds>(field.has_t0(), field.t0(), path + ".t0", true),
            .flop_efficiency = reader.number(field.has_flop_efficiency(), field.flop_efficiency(),
                                             path + ".flop_efficiency", kShare),
            .byte_efficiency = reader.number(field.has_byte_efficiency(), field.byte_efficiency(),
                                             path + ".byte_efficiency", kShare),
            .q = reader.number(field.has_q(), field.q(), path + ".q", kPower),
            .sigma = reader.spread(field.has_sigma(), field.sigma(), path + ".sigma"),
            .whole_waves = field.whole_waves()};
        profile.gemm[reader.dtype(field.dtype(), path + ".dtype")] = fit;
    }
    if (!profile.gemm.contains(Dtype::Bf16)) {
        reader.error("gemm", "has no fit for bf16", "add gemm { dtype: \"bf16\" … }");
    }
    for (int i = 0; i < proto.layout_size(); ++i) {
        const schema::LayoutField& field = proto.layout(i);
        const std::string path = item("layout", i);
        const double value =
            reader.number(field.has_value(), field.value(), path + ".value", kFactor);
        if (field.layout() == "NN" || field.layout() == "NT") {
            profile.layout_factor[field.layout() == "NN" ? 1 : 2] = value;
        } else {
            reader.error(path + ".layout", "is \"" + field.layout() + "\"", "valid: NN, NT");
        }
    }
}

void read_attention(FieldReader& reader, const schema::GpuProfile& proto, GpuProfile& profile) {
    for (int i = 0; i < proto.attention_size(); ++i) {
        const schema::AttentionFitField& field = proto.attention(i);
        const std::string path = item("attention", i);
        const AttentionFit fit{
            .t0 = reader.quantity<Seconds>(field.has_t0(), field.t0(), path + ".t0", true),
            .e_inf = reader.number(field.has_e_inf(), field.e_inf(), path + ".e_inf", kShare),
            .s_half = reader.number(field.has_s_half(), field.s_half(), path + ".s_half", kLength),
            .backward_efficiency =
                reader.number(field.has_backward_efficiency(), field.backward_efficiency(),
                              path + ".backward_efficiency", kShare),
            .sigma = reader.spread(field.has_sigma(), field.sigma(), path + ".sigma")};
        profile.attention[reader.dtype(field.dtype(), path + ".dtype")] = fit;
    }
    if (!profile.attention.contains(Dtype::Bf16)) {
        reader.error("attention", "has no fit for bf16", "add attention { dtype: \"bf16\" … }");
    }
}

void read_memory_bound(FieldReader& reader, const schema::GpuProfile& proto, GpuProfile& profile) {
    for (int i = 0; i < proto.memory_bound_size(); ++i) {
        const schema::MemoryBoundFitField& field = proto.memory_bound(i);
        const std::string path = item("memory_bound", i);
        if (field.op().empty()) {
            reader.error(path + ".op", "is missing", "an op's word, or \"*\"");
        }
        if (field.pass() != "forward" && field.pass() != "backward") {
            reader.error(path + ".pass", "is \"" + field.pass() + "\"", "valid: forward, backward");
        }
        if (field.impl() != "fused" && field.impl() != "compiled" && field.impl() != "eager") {
            reader.error(path + ".impl", "is \"" + field.impl() + "\"",
                         "valid: fused, compiled, eager");
        }
        profile.memory_bound[field.op() + "/" + field.pass() + "/" + field.impl()] = {
            .t0 = reader.quantity<Seconds>(field.has_t0(), field.t0(), path + ".t0", true),
            .share = reader.number(field.has_share(), field.share(), path + ".share", kShare),
            .sigma = reader.spread(field.has_sigma(), field.sigma(), path + ".sigma")};
    }
    for (const char* key :
         {"*/forward/fused", "*/backward/fused", "*/forward/eager", "*/backward/eager"}) {
        if (!profile.memory_bound.contains(key)) {
            reader.error("memory_bound", "has no default " + std::string(key),
                         "add a fit whose op is \"*\"");
        }
    }
}

void read_datasheet(FieldReader& reader, const schema::GpuProfile& proto, GpuProfile& profile) {
    for (int i = 0; i < proto.peak_size(); ++i) {
        const schema::PeakField& field = proto.peak(i);
        const std::string path = item("peak", i);
        profile.peak[reader.dtype(field.dtype(), path + ".dtype")] =
            reader.quantity<FlopPerSecond>(field.has_value(), field.value(), path + ".value");
    }
    if (!profile.peak.contains(Dtype::Bf16)) {
        reader.error("peak", "has no peak for bf16", "add peak { dtype: \"bf16\" … }");
    }
    profile.hbm_bandwidth =
        read_quantity<BytesPerSecond>(reader, proto.hbm_bandwidth(), "hbm_bandwidth");
    profile.l2 = read_quantity<Bytes>(reader, proto.l2(), "l2");
    profile.memory_capacity =
        read_quantity<Bytes>(reader, proto.memory_capacity(), "memory_capacity");
    profile.sms = reader.count(proto.sms().has_value(), proto.sms().value(), "sms.value");
    profile.kernel_gap = read_quantity<Seconds>(reader, proto.kernel_gap(), "kernel_gap", true);
    profile.sustained = read_factor(reader, proto.sustained(), "sustained");
    profile.accumulate_factor = read_factor(reader, proto.accumulate(), "accumulate");
    profile.cache_boost = read_factor(reader, proto.cache_boost(), "cache_boost");
    profile.gemm_beside_comm = read_factor(reader, proto.gemm_beside_comm(), "gemm_beside_comm");
    profile.memory_bound_beside_comm =
        read_factor(reader, proto.memory_bound_beside_comm(), "memory_bound_beside_comm");
}

/// The points of the table that `field` names, beside the profile; none where it names none.
template <typename Points>
Points read_table(FieldReader& reader, const std::string& file, const schema::TableField& field,
                  Expected<Points> (*read)(const CsvTable&)) {
    if (field.file().empty()) {
        return {};
    }
    const auto table = CsvTable::load(path_beside(file, field.file()));
    if (!table) {
        reader.add(table.error());
        return {};
    }
    auto points = read(*table);
    if (!points) {
        reader.add(points.error());
        return {};
    }
    return std::move(*points);
}

/// Parses the profile `name` of `kind` ("gpus", "fabrics") into `message`; returns its file.
Expected<std::string> parse_profile(const std::string& kind, const std::string& name,
                                    google::protobuf::Message& message, TextLocations& places) {
    ORRERY_TRY(file, find_shipped(kind, name));
    ORRERY_TRY(text, read_text_file(file));
    Diagnostics errors = parse_text(text, file, message, &places);
    if (!errors.empty()) {
        return fail(std::move(errors));
    }
    return file;
}

}  // namespace

Expected<GpuFile> load_gpu_profile(const std::string& name) {
    schema::GpuProfile proto;
    TextLocations places;
    ORRERY_TRY(file, parse_profile("gpus", name, proto, places));
    FieldReader reader(file, places);
    GpuFile result;
    result.profile.name = proto.name();
    result.profile.origin = proto.origin();
    if (proto.name().empty()) {
        reader.error("name", "is missing");
    }
    read_datasheet(reader, proto, result.profile);
    read_products(reader, proto, result.profile);
    read_attention(reader, proto, result.profile);
    read_memory_bound(reader, proto, result.profile);
    result.nvlink_bandwidth =
        read_quantity<BytesPerSecond>(reader, proto.nvlink_bandwidth(), "nvlink_bandwidth");
    result.nvlink = read_link_fits(reader, proto.nvlink(), "nvlink");
    result.profile.gemm_table = read_table(reader, file, proto.gemm_table(), read_gemm_points);
    result.profile.attention_table =
        read_table(reader, file, proto.attention_table(), read_attention_points);
    if (reader.has_errors()) {
        return fail(reader.take());
    }
    return result;
}

Expected<FabricFile> load_fabric_profile(const std::string& name, const std::string& for_gpu) {
    schema::FabricProfile proto;
    TextLocations places;
    ORRERY_TRY(file, parse_profile("fabrics", name, proto, places));
    FieldReader reader(file, places);
    FabricFile result;
    result.name = proto.name();
    if (proto.name().empty()) {
        reader.error("name", "is missing");
    }
    result.nic_bandwidth =
        read_quantity<BytesPerSecond>(reader, proto.nic_bandwidth(), "nic_bandwidth");
    result.nics_per_node = reader.count(proto.nics_per_node().has_value(),
                                        proto.nics_per_node().value(), "nics_per_node.value");
    // Every entry is read, so that one bad entry is found whatever the GPU; the GPU's own wins over
    // "*".
    int chosen_rank = 0;
    for (int i = 0; i < proto.fits_size(); ++i) {
        const std::string path = item("fits", i);
        const LinkFits fits = read_link_fits(reader, proto.fits(i).nic(), path + ".nic");
        for (const std::string& gpu : proto.fits(i).gpu()) {
            const int rank = gpu == for_gpu ? 2 : gpu == "*" ? 1 : 0;
            if (rank > chosen_rank) {
                chosen_rank = rank;
                result.nic = fits;
            }
        }
    }
    if (chosen_rank == 0) {
        reader.error("fits", "has no fits for " + for_gpu, "add fits { gpu: \"*\" … }");
    }
    if (reader.has_errors()) {
        return fail(reader.take());
    }
    return result;
}

}  // namespace orrery
