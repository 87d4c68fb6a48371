// SPDX-License-Identifier: Apache-2.0
#include "model/kernel.hpp"

#include "tests/catch.hpp"

using namespace orrery;  // NOLINT(google-build-using-namespace)

TEST_CASE("a batched product does 2·m·n·k FLOP each and moves each operand once") {
    const GemmKernel gemm{.m = 5, .n = 7, .k = 3, .batch = 4};
    CHECK(kernel_flop(gemm).si() == 2.0 * 5 * 7 * 3 * 4);
    CHECK(kernel_bytes_read(gemm).si() == 4 * 2.0 * (5 * 3 + 3 * 7));
    CHECK(kernel_bytes_written(gemm).si() == 4 * 2.0 * 5 * 7);
}

TEST_CASE("an accumulating product reads and writes its fp32 result") {
    const GemmKernel gemm{.m = 5, .n = 7, .k = 3, .accumulate = true};
    CHECK(kernel_bytes_read(gemm).si() == 2.0 * (5 * 3 + 3 * 7) + 4.0 * 5 * 7);
    CHECK(kernel_bytes_written(gemm).si() == 4.0 * 5 * 7);
}

TEST_CASE("a quantised product reads its own format and writes two bytes an element") {
    const GemmKernel gemm{.m = 16, .n = 16, .k = 32, .dtype = Dtype::Nvfp4};
    CHECK(kernel_bytes_read(gemm).si() == 0.5 * (16 * 32 + 32 * 16));
    CHECK(kernel_bytes_written(gemm).si() == 2.0 * 16 * 16);
}

TEST_CASE("attention counts 4·b·heads·pairs·d forward and twice that backward") {
    AttentionKernel kernel{
        .batch = 3, .seq = 64, .heads_q = 8, .heads_kv = 2, .head_dim_qk = 16, .head_dim_v = 16};
    const double per_pair = 4.0 * 3 * 8 * 16;
    CHECK(kernel_flop(kernel).si() == per_pair * 64 * 64 / 2);
    kernel.pass = KernelPass::Backward;
    CHECK(kernel_flop(kernel).si() == 2 * per_pair * 64 * 64 / 2);
    kernel.pass = KernelPass::Forward;
    kernel.causal = false;
    CHECK(kernel_flop(kernel).si() == per_pair * 64 * 64);
}

TEST_CASE("a causal window counts the pairs that an enumeration finds") {
    const std::int64_t w = GENERATE(1, 5, 63);
    std::int64_t pairs = 0;
    for (std::int64_t query = 0; query < 64; ++query) {
        for (std::int64_t key = 0; key <= query; ++key) {
            pairs += query - key < w ? 1 : 0;
        }
    }
    const AttentionKernel kernel{
        .seq = 64, .heads_q = 1, .heads_kv = 1, .head_dim_qk = 2, .head_dim_v = 2, .window = w};
    CHECK(kernel_flop(kernel).si() == 8.0 * static_cast<double>(pairs));
}

TEST_CASE("a window that covers the sequence changes nothing") {
    AttentionKernel kernel{.seq = 64, .window = 64};
    const Flop covered = kernel_flop(kernel);
    kernel.window = 0;
    CHECK(kernel_flop(kernel) == covered);
}

TEST_CASE("attention's two products have their own widths") {
    // DeepSeek-V3: keys 192 wide, values 128.
    const AttentionKernel kernel{
        .seq = 10, .heads_q = 1, .heads_kv = 1, .head_dim_qk = 192, .head_dim_v = 128};
    CHECK(kernel_flop(kernel).si() == 2.0 * 50 * (192 + 128));
}

TEST_CASE("attention reads grouped keys and values once and writes a log-sum-exp") {
    AttentionKernel kernel{
        .batch = 2, .seq = 8, .heads_q = 4, .heads_kv = 1, .head_dim_qk = 16, .head_dim_v = 16};
    const double q = 2.0 * 2 * 8 * 4 * 16;
    const double k = 2.0 * 2 * 8 * 1 * 16;
    const double lse = 4.0 * 2 * 8 * 4;
    CHECK(kernel_bytes_read(kernel).si() == q + 2 * k);
    CHECK(kernel_bytes_written(kernel).si() == q + lse);
    kernel.pass = KernelPass::Backward;
    CHECK(kernel_bytes_read(kernel).si() == 3 * q + 2 * k + lse);
    CHECK(kernel_bytes_written(kernel).si() == q + 2 * k);
}

TEST_CASE("a memory-bound kernel moves what it says and computes nothing that is counted") {
    const MemoryBoundKernel kernel{
        .op = "rms_norm", .rows = 4, .width = 8, .read = Bytes(64.0), .written = Bytes(80.0)};
    CHECK(kernel_flop(kernel).si() == 0.0);
    CHECK(kernel_bytes_read(kernel).si() == 64.0);
    CHECK(kernel_bytes_written(kernel).si() == 80.0);
}

TEST_CASE("kernels are named by kind, shape and format") {
    CHECK(kernel_name(GemmKernel{.m = 8192, .n = 10240, .k = 8192}) ==
          "gemm 8192x10240x8192 bf16 TN");
    CHECK(kernel_name(GemmKernel{
              .m = 1, .n = 2, .k = 3, .batch = 4, .layout = GemmLayout::NT, .accumulate = true}) ==
          "gemm 4 of 1x2x3 bf16 NT accumulate");
    CHECK(kernel_name(AttentionKernel{.seq = 8192, .heads_q = 64, .heads_kv = 8}) ==
          "attention fwd b1 s8192 h64/8 d128 causal bf16");
    CHECK(kernel_name(MemoryBoundKernel{.op = "swiglu",
                                        .pass = KernelPass::Backward,
                                        .rows = 8,
                                        .width = 16,
                                        .read = Bytes(),
                                        .written = Bytes()}) == "swiglu bwd 8x16 bf16");
}

TEST_CASE("formats have the sizes and the names of the command line") {
    CHECK(bytes_per_element(Dtype::Fp32) == 4.0);
    CHECK(bytes_per_element(Dtype::Fp16) == 2.0);
    CHECK(bytes_per_element(Dtype::Mxfp8) == 1.0);
    CHECK(bytes_per_element(Dtype::Nvfp4) == 0.5);
    CHECK(to_string(Dtype::Fp8Block128) == "fp8_block128");
    CHECK(to_string(Dtype::Fp8DynQuant) == "fp8_dynquant");
}
