// SPDX-License-Identifier: Apache-2.0
#include "calibrate/fit/known_gpus.hpp"
#include "cost/kernel_time.hpp"
#include "scenario/profile_reader.hpp"
#include "tests/catch.hpp"

#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

using namespace orrery;  // NOLINT(google-build-using-namespace)

namespace {

std::string folder(const std::string& kind) {
    return std::string(ORRERY_SOURCE_DIR) + "/scenarios/" + kind + "/";
}

GpuFile gpu(const std::string& name) {
    auto file = load_gpu_profile(folder("gpus") + name + ".textproto");
    if (!file) {
        FAIL(to_string(file.error()));
    }
    return *file;
}

std::string text_of(const std::string& path) {
    std::ifstream stream(path);
    return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

/// A profile in the temporary folder, made from h100-sxm's by replacing `from`.
Expected<GpuFile> changed_profile(const std::string& from, const std::string& to) {
    std::string text = text_of(folder("gpus") + "h100-sxm.textproto");
    const std::size_t at = text.find(from);
    REQUIRE(at != std::string::npos);
    text.replace(at, from.size(), to);
    // Its tables stay where they are shipped.
    for (const std::string file : {"h100-sxm_gemm.csv", "h100-sxm_attention.csv"}) {
        const std::size_t table = text.find("\"" + file);
        if (table != std::string::npos) {
            text.insert(table + 1, folder("gpus"));
        }
    }
    const std::string path =
        (std::filesystem::temp_directory_path() / "orrery_changed_profile.textproto").string();
    std::ofstream(path) << text;
    auto result = load_gpu_profile(path);
    std::filesystem::remove(path);
    return result;
}

}  // namespace

TEST_CASE("every GPU of the datasheets has a profile that reads without a complaint") {
    CHECK(known_gpus().size() == 11);
    for (const KnownGpu& known : known_gpus()) {
        CAPTURE(std::string(known.name));
        const GpuFile file = gpu(std::string(known.name));
        CHECK(file.profile.name == known.name);
        CHECK(file.profile.hbm_bandwidth.si() == Approx(known.hbm_gbps * 1e9));
        CHECK(file.profile.peak.at(Dtype::Bf16).si() == Approx(known.bf16_tflops * 1e12));
        CHECK(file.profile.sms == known.sms);
        CHECK(file.nvlink_bandwidth.si() == Approx(known.nvlink_gbps * 1e9));
        CHECK(file.nvlink.sms > 0);
        // No fit is faster than the hardware.
        CHECK(file.nvlink.all_gather.bus_bandwidth <= file.nvlink_bandwidth);
        CHECK(file.profile.gemm.at(Dtype::Bf16).flop_efficiency < 1.0);
        CHECK(file.profile.memory_capacity.si() < 300e9);
    }
}

TEST_CASE("every fabric has a profile whose fits stay below the rate of its NICs") {
    CHECK(known_fabrics().size() == 14);
    for (const KnownFabric& known : known_fabrics()) {
        CAPTURE(std::string(known.name));
        const auto file = load_fabric_profile(
            folder("fabrics") + std::string(known.name) + ".textproto", "h100-sxm");
        REQUIRE(file);
        CHECK(file->name == known.name);
        CHECK(file->nics_per_node == known.nics);
        CHECK(file->nic_bandwidth.si() == Approx(known.nic_gbps * 1e9 / 8.0));
        for (const CollectiveFit& fit :
             {file->nic.all_reduce, file->nic.all_gather, file->nic.reduce_scatter,
              file->nic.all_to_all, file->nic.broadcast, file->nic.send_recv}) {
            CHECK(fit.bus_bandwidth <= file->nic_bandwidth);
            // The slowest measured one, TCPX, gives half of its rate.
            CHECK(fit.bus_bandwidth > file->nic_bandwidth * 0.45);
            CHECK(fit.sigma > 0.0);
        }
    }
}

TEST_CASE("profiles of measured GPUs answer a measured shape with its row") {
    // NVIDIA aiconfigurator 095f58a: H100-SXM, bf16, 64³ in 2.668 µs.
    const KernelTimes times(gpu("h100-sxm").profile, FrameworkProfile{});
    const KernelTime time = times.time(GemmKernel{.m = 64, .n = 64, .k = 64});
    CHECK(time.source == TimeSource::Measured);
    CHECK(time.time.si() == Approx(2.668e-6));
    // Llama-3 70B's shapes are near the table, if not in it.
    const GemmKernel up{.m = 8192, .n = 7168, .k = 8192};
    CHECK(times.time(up).source != TimeSource::Roofline);
}

TEST_CASE("a training product of each measured GPU stays below its best known rate") {
    // Best shapes of a search, TFLOP/s: ml-engineering's table.
    const std::pair<const char*, double> best[] = {
        {"a100-sxm-80g", 271.2}, {"h100-sxm", 794.5}, {"b200", 1745.0}, {"gb200", 1822.0}};
    for (const auto& [name, tflops] : best) {
        CAPTURE(name);
        const KernelTimes times(gpu(name).profile, FrameworkProfile{});
        const GemmKernel kernel{.m = 8192, .n = 8192, .k = 8192};
        const double rate = kernel_flop(kernel).si() / times.time(kernel).time.si() * 1e-12;
        CHECK(rate < tflops);
        CHECK(rate > 0.6 * tflops);
    }
}

TEST_CASE("a measured device copy takes its measured time") {
    // One H200: a copy reads and writes 4.3 TB/s.
    const KernelTimes times(gpu("h200").profile, FrameworkProfile{});
    const MemoryBoundKernel copy{.op = "copy", .read = Bytes(2e9), .written = Bytes(2e9)};
    CHECK(4e9 / times.time(copy).time.si() == Approx(4.3e12).epsilon(0.08));
}

TEST_CASE("GPUs without measurements have no tables and are less sure") {
    for (const char* name : {"h800", "h100-96g-500w", "b300"}) {
        CAPTURE(name);
        const GpuFile file = gpu(name);
        CHECK(file.profile.gemm_table.empty());
        CHECK_FALSE(file.profile.origin.starts_with("measured"));
    }
    CHECK(gpu("h800").profile.gemm.at(Dtype::Bf16).sigma >
          gpu("h100-sxm").profile.gemm.at(Dtype::Bf16).sigma);
    CHECK(gpu("h800").nvlink.all_gather.bus_bandwidth <
          gpu("h100-sxm").nvlink.all_gather.bus_bandwidth);
    CHECK(gpu("h100-96g-500w").profile.sustained > gpu("h100-sxm").profile.sustained);
}

TEST_CASE("tables shipped beside profiles hold at most 2 MB") {
    for (const auto& entry : std::filesystem::directory_iterator(folder("gpus"))) {
        CAPTURE(entry.path().string());
        CHECK(entry.file_size() <= 2'000'000);
    }
}

TEST_CASE("a value out of range, a wrong unit and a missing field are named with their place") {
    const auto share = changed_profile("flop_efficiency: 0.7", "flop_efficiency: 7.7");
    REQUIRE_FALSE(share);
    CHECK(share.error()[0].field == "gemm[0].flop_efficiency");
    CHECK(share.error()[0].line > 10);
    const auto unit = changed_profile("value: \"3350 GB/s\"", "value: \"3350 GB\"");
    REQUIRE_FALSE(unit);
    CHECK(unit.error()[0].field == "hbm_bandwidth.value");
    const auto missing = changed_profile("kernel_gap {", "# kernel_gap {");
    REQUIRE_FALSE(missing);
    CHECK(missing.error()[0].field == "kernel_gap.value");
    const auto table = changed_profile("h100-sxm_gemm.csv", "none.csv");
    REQUIRE_FALSE(table);
    CHECK(table.error()[0].message == "table cannot be read");
    const auto unknown = changed_profile("e_inf:", "e_infinity:");
    REQUIRE_FALSE(unknown);
}

TEST_CASE("a fabric's fits of a GPU win over those for any") {
    const std::string text = text_of(folder("fabrics") + "ib_ndr_8x400.textproto");
    const std::size_t fits = text.find("fits {");
    REQUIRE(fits != std::string::npos);
    std::string own = text.substr(fits);
    own.replace(own.find("gpu: \"*\""), 8, "gpu: \"b200\"");
    const std::string rate = "bus_bandwidth: \"";
    const std::size_t at = own.find(rate) + rate.size();
    own.replace(at, own.find('"', at) - at, "12.5 GB/s");
    const std::string path =
        (std::filesystem::temp_directory_path() / "orrery_two_fits.textproto").string();
    std::ofstream(path) << text << own;
    const auto b200 = load_fabric_profile(path, "b200");
    const auto h100 = load_fabric_profile(path, "h100-sxm");
    std::filesystem::remove(path);
    REQUIRE(b200);
    REQUIRE(h100);
    CHECK(b200->nic.all_reduce.bus_bandwidth.si() == Approx(12.5e9));
    CHECK(h100->nic.all_reduce.bus_bandwidth.si() > 12.5e9);
}
