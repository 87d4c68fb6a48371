// SPDX-License-Identifier: Apache-2.0
#include "strategies/stage.hpp"

#include <algorithm>
#include <numeric>

namespace orrery {

namespace {

/// Builds the blocks of one Program.
class StageBuilder {
  public:
    StageBuilder(const Job& job, ProgramBuilder& builder, CostTableBuilder& costs)
        : job_(&job), builder_(&builder), costs_(&costs) {}

    Chunk chunk(std::int64_t virtual_stage) {
        const auto& split = job_->plan->stage_layers;
        const auto at = static_cast<std::size_t>(virtual_stage);
        const std::int64_t first_layer =
            std::accumulate(split.begin(), split.begin() + virtual_stage, std::int64_t{0});
        Chunk chunk;
        chunk.virtual_stage = virtual_stage;
        chunk.is_first = virtual_stage == 0;
        chunk.is_last = at + 1 == split.size();
        if (chunk.is_first) {
            add_block(chunk, -1, embedding_operators(*job_->model, *job_->training, job_->shape));
        }
        for (std::int64_t layer = first_layer; layer < first_layer + split[at]; ++layer) {
            add_block(chunk, layer,
                      layer_operators(*job_->model, *job_->training, job_->shape, layer));
        }
        if (chunk.is_last) {
            add_block(chunk, -1, head_operators(*job_->model, *job_->training, job_->shape));
        }
        return chunk;
    }

  private:
    void add_block(Chunk& chunk, std::int64_t layer, const std::vector<Operator>& operators) {
        Block block;
        block.layer = layer;
        // What flows between blocks is [s, b, h] in the Sequence region.
        const std::int64_t whole = whole_activation_bytes(job_->shape, job_->model->hidden);
        std::int64_t input_bytes = local_bytes(whole, Region::Sequence, job_->shape);
        for (const Operator& op : operators) {
            block.operators.push_back(lower(op, input_bytes));
            add_parameters(chunk, op, block.operators.size() - 1);
            // These two rewrite q and k in place of the packed product: what attention reads is
            // still all of q, k and v.
            if (op.kind != OperatorKind::QkNorm && op.kind != OperatorKind::Rotary) {
                input_bytes = local_bytes(op.output_bytes, op.output_region, job_->shape);
            }
        }
        chunk.blocks.push_back(std::move(block));
    }

    StageOperator lower(const Operator& op, std::int64_t input_bytes) {
        StageOperator lowered;
        lowered.kind = op.kind;
        lowered.is_linear = op.split == TensorSplit::Column || op.split == TensorSplit::Row ||
                            op.split == TensorSplit::Vocabulary;
        lowered.name = builder_->shared().name(op.name);
        lowered.forward = price(op.forward);
        lowered.input_gradient = price(op.input_gradient);
        lowered.weight_gradient = price(op.weight_gradient);
        lowered.gradient_accumulation = price(op.gradient_accumulation);
        for (const SavedTensor& saved : op.saved) {
            const std::int64_t bytes = local_bytes(saved.bytes, saved.region, job_->shape);
            if (bytes > 0) {
                const bool is_read_later =
                    op.kind == OperatorKind::CoreAttention && saved.name == op.name + ".output";
                auto& list = saved.is_core_attention ? lowered.core_attention
                             : is_read_later         ? lowered.saved_for_next_weights
                                                     : lowered.saved;
                list.push_back(tensor(saved.name, MemoryCategory::Activations, bytes));
            }
        }
        lowered.output = tensor(op.name + " output", MemoryCategory::Activations,
                                local_bytes(op.output_bytes, op.output_region, job_->shape));
        lowered.output_is_kept = op.output_is_kept;
        lowered.input_gradient_tensor =
            tensor(op.name + " input gradient", MemoryCategory::Activations, input_bytes);
        lowered.comms = tensor_comms(builder_->shared(), op, job_->shape, job_->model->hidden,
                                     job_->training->cross_entropy);
        lowered.whole = tensor("tensor-parallel buffer", MemoryCategory::Communication,
                               whole_activation_bytes(job_->shape, job_->model->hidden));
        return lowered;
    }

    std::vector<CostId> price(const std::vector<KernelSpec>& kernels) {
        std::vector<CostId> ids;
        ids.reserve(kernels.size());
        for (const KernelSpec& kernel : kernels) {
            ids.push_back(costs_->add(kernel));
        }
        return ids;
    }

    TensorId tensor(const std::string& name, MemoryCategory category, std::int64_t bytes) {
        return builder_->tensor(name, category, bytes);
    }

    void add_parameters(Chunk& chunk, const Operator& op, std::size_t index) {
        const std::int64_t t = job_->shape.tensor;
        Parameter parameter;
        parameter.block = chunk.blocks.size();
        parameter.op = index;
        for (const Weight& weight : op.weights) {
            parameter.elements =
                weight.is_split ? weight.padded_elements / t : weight.padded_elements;
            parameter.has_partial_gradient =
                t > 1 && !weight.is_split &&
                (job_->shape.sequence_parallel || op.kind == OperatorKind::QkNorm);
            chunk.parameters.push_back(parameter);
        }
        // Tied: a last stage apart from the first holds its own copy of the table.
        if (op.kind == OperatorKind::VocabProjection && op.weights.empty() &&
            job_->plan->pipeline > 1) {
            parameter.elements = job_->shape.padded_vocab / t * job_->model->hidden;
            parameter.has_partial_gradient = false;
            chunk.parameters.push_back(parameter);
        }
    }

    const Job* job_;
    ProgramBuilder* builder_;
    CostTableBuilder* costs_;
};

}  // namespace

Stage build_stage(const Job& job, std::int64_t rank, ProgramBuilder& builder,
                  CostTableBuilder& costs) {
    StageBuilder stage_builder(job, builder, costs);
    Stage stage;
    stage.rank = rank;
    for (std::int64_t chunk = 0; chunk < job.plan->virtual_stages; ++chunk) {
        stage.chunks.push_back(stage_builder.chunk(chunk * job.plan->pipeline + rank));
    }
    return stage;
}

std::int64_t num_parameters(const Chunk& chunk) {
    std::int64_t elements = 0;
    for (const Parameter& parameter : chunk.parameters) {
        elements += parameter.elements;
    }
    return elements;
}

}  // namespace orrery
