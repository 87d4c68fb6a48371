// SPDX-License-Identifier: Apache-2.0
#include "model/dtype.hpp"

#include "base/assert.hpp"

namespace orrery {

double bytes_per_element(Dtype dtype) {
    switch (dtype) {
        case Dtype::Fp32:
            return 4.0;
        case Dtype::Bf16:
        case Dtype::Fp16:
            return 2.0;
        case Dtype::Fp8:
        case Dtype::Fp8DynQuant:
        case Dtype::Fp8Block128:
        case Dtype::Mxfp8:
            return 1.0;
        case Dtype::Nvfp4:
            return 0.5;
    }
    ORRERY_ASSERT(false, "every Dtype has a size");
    return 0.0;
}

std::string_view to_string(Dtype dtype) {
    switch (dtype) {
        case Dtype::Fp32:
            return "fp32";
        case Dtype::Bf16:
            return "bf16";
        case Dtype::Fp16:
            return "fp16";
        case Dtype::Fp8:
            return "fp8";
        case Dtype::Fp8DynQuant:
            return "fp8_dynquant";
        case Dtype::Fp8Block128:
            return "fp8_block128";
        case Dtype::Mxfp8:
            return "mxfp8";
        case Dtype::Nvfp4:
            return "nvfp4";
    }
    ORRERY_ASSERT(false, "every Dtype has a name");
    return "";
}

}  // namespace orrery
