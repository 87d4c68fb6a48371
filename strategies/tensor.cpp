// SPDX-License-Identifier: Apache-2.0
#include "strategies/tensor.hpp"

#include <string>

namespace orrery {

namespace {

class Tensors {
  public:
    Tensors(ProgramSetBuilder& shared, const Operator& op, const LocalShape& shape,
            std::int64_t hidden)
        : shared_(&shared),
          op_(&op),
          shape_(&shape),
          whole_(whole_activation_bytes(shape, hidden)) {}

    CommId operator()(CollectiveKind kind, const char* what) const {
        return comm(kind, whole_, what);
    }

    [[nodiscard]] CommId comm(CollectiveKind kind, std::int64_t bytes, const char* what) const {
        return shared_->communication({.kind = kind,
                                       .dimension = Dimension::Tensor,
                                       .group = GroupKind::Tensor,
                                       .bytes = bytes,
                                       .peer_stage = 0,
                                       .name = shared_->name(op_->name + " " + what)});
    }

    /// After the kernels that make what is reduced: largest logit, predicted logit, sum of
    /// exponents.
    [[nodiscard]] std::vector<LossComm> loss(CrossEntropy cross_entropy) const {
        const std::int64_t values = shape_->batch * shape_->sequence * 4;
        constexpr CollectiveKind kReduce = CollectiveKind::AllReduce;
        switch (cross_entropy) {
            case CrossEntropy::Unfused:
                return {{1, comm(kReduce, values, "maximum reduction")},
                        {2, comm(kReduce, values, "predicted logit reduction")},
                        {4, comm(kReduce, values, "exponent sum reduction")}};
            case CrossEntropy::Fused:
                return {{0, comm(kReduce, values, "maximum reduction")},
                        {1, comm(kReduce, 2 * values, "logit and sum reduction")}};
            case CrossEntropy::VocabParallel:
                break;
        }
        return {
            {0, comm(CollectiveKind::AllGather, 3 * values * shape_->tensor, "statistics gather")}};
    }

  private:
    ProgramSetBuilder* shared_;
    const Operator* op_;
    const LocalShape* shape_;
    std::int64_t whole_;
};

}  // namespace

std::int64_t whole_activation_bytes(const LocalShape& shape, std::int64_t hidden) {
    return shape.batch * shape.sequence * hidden * 2;
}

TensorComms tensor_comms(ProgramSetBuilder& shared, const Operator& op, const LocalShape& shape,
                         std::int64_t hidden, CrossEntropy cross_entropy) {
    TensorComms comms;
    if (shape.tensor == 1) {
        return comms;
    }
    const bool sp = shape.sequence_parallel;
    const Tensors of(shared, op, shape, hidden);
    const CollectiveKind reduction = sp ? CollectiveKind::ReduceScatter : CollectiveKind::AllReduce;
    comms.scatters = sp;
    if (op.split == TensorSplit::Column) {
        if (sp) {
            comms.forward_gather = of(CollectiveKind::AllGather, "input gather");
            comms.input_gather = of(CollectiveKind::AllGather, "input gather (backward)");
        }
        comms.gradient_reduce = of(reduction, "input gradient reduction");
    } else if (op.split == TensorSplit::Row || op.split == TensorSplit::Vocabulary) {
        comms.forward_reduce = of(reduction, "output reduction");
        if (sp) {
            comms.gradient_gather = of(CollectiveKind::AllGather, "output gradient gather");
        }
    }
    if (op.kind == OperatorKind::CrossEntropyLoss) {
        comms.loss = of.loss(cross_entropy);
    }
    return comms;
}

}  // namespace orrery
