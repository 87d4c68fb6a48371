// SPDX-License-Identifier: Apache-2.0
#include "model/operators.hpp"

#include "base/assert.hpp"
#include "model/operator_parts.hpp"

namespace orrery {

std::vector<Operator> layer_operators(const Transformer& model, const Training& training,
                                      const LocalShape& shape, std::int64_t layer) {
    const RankShape rank = rank_shape(model, training, shape);
    std::vector<Operator> operators;
    append_attention(operators, model, training, rank, layer);
    append_mlp(operators, model, training, rank);
    return operators;
}

std::int64_t local_bytes(std::int64_t whole_bytes, Region region, const LocalShape& shape) {
    const bool is_divided =
        region == Region::Tensor || (region == Region::Sequence && shape.sequence_parallel);
    return is_divided ? (whole_bytes + shape.tensor - 1) / shape.tensor : whole_bytes;
}

std::int64_t saved_bytes(const std::vector<Operator>& operators, const LocalShape& shape) {
    std::int64_t bytes = 0;
    for (const Operator& op : operators) {
        for (const SavedTensor& tensor : op.saved) {
            bytes += local_bytes(tensor.bytes, tensor.region, shape);
        }
    }
    return bytes;
}

std::int64_t local_parameters(const std::vector<Operator>& operators, const LocalShape& shape) {
    std::int64_t parameters = 0;
    for (const Operator& op : operators) {
        for (const Weight& weight : op.weights) {
            ORRERY_ASSERT(!weight.is_split || weight.padded_elements % shape.tensor == 0,
                          "tensor divides what it splits");
            parameters +=
                weight.is_split ? weight.padded_elements / shape.tensor : weight.padded_elements;
        }
    }
    return parameters;
}

}  // namespace orrery
