// SPDX-License-Identifier: Apache-2.0
#include "strategies/memory/state.hpp"

#include "model/dtype.hpp"

namespace orrery {

namespace {

std::int64_t moments(const Training& training) {
    return training.optimizer == Optimizer::Adam ? 2 : 1;
}

std::int64_t main_gradient_bytes(Dtype grad_reduce_dtype) {
    return static_cast<std::int64_t>(bytes_per_element(grad_reduce_dtype));
}

}  // namespace

StateBytes state_bytes(const Training& training, Dtype grad_reduce_dtype) {
    const std::int64_t gradient = main_gradient_bytes(grad_reduce_dtype);
    const std::int64_t copy = gradient < 4 ? 4 : 0;
    switch (training.recipe) {
        case Recipe::Fp32MainGrads:
            return {2, gradient, 4 + 4 * moments(training) + copy};
        case Recipe::Fp32Params:
            return {4, 4, 4 * moments(training)};
        case Recipe::Classic:
            return {2, 2, 4 + 4 * moments(training)};
        case Recipe::Pure:
            break;
    }
    return {2, 2, 2 * moments(training)};
}

StepTraffic step_traffic(const Training& training, Dtype grad_reduce_dtype) {
    const std::int64_t m = moments(training);
    const std::int64_t gradient = main_gradient_bytes(grad_reduce_dtype);
    // A 2-byte gradient is first copied to fp32.
    const std::int64_t copy = gradient < 4 ? 4 : 0;
    switch (training.recipe) {
        case Recipe::Fp32MainGrads:
            return {gradient + copy + 4 + 4 * m, 4 + 4 * m + 2 + copy};
        case Recipe::Fp32Params:
            return {4 + 4 + 4 * m, 4 + 4 * m};
        case Recipe::Classic:
            return {2 + 4 + 4 * m, 4 + 4 * m + 2};
        case Recipe::Pure:
            break;
    }
    return {2 + 2 + 2 * m, 2 + 2 * m};
}

}  // namespace orrery
