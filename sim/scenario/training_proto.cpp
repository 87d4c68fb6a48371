// SPDX-License-Identifier: Apache-2.0
#include "scenario/enum_pairs.hpp"
#include "scenario/proto_fields.hpp"
#include "schema/scenario.pb.h"

namespace orrery {
namespace {

constexpr EnumPairs<schema::Precision::Kind, Precision, 7> kPrecisions{
    {{schema::Precision::BF16, Precision::Bf16},
     {schema::Precision::FP16, Precision::Fp16},
     {schema::Precision::FP8, Precision::Fp8},
     {schema::Precision::FP8_ROWWISE, Precision::Fp8Rowwise},
     {schema::Precision::FP8_BLOCK, Precision::Fp8Block},
     {schema::Precision::MXFP8, Precision::Mxfp8},
     {schema::Precision::NVFP4, Precision::Nvfp4}}};
constexpr EnumPairs<schema::Recipe::Kind, Recipe, 4> kRecipes{
    {{schema::Recipe::FP32_MAIN_GRADS, Recipe::Fp32MainGrads},
     {schema::Recipe::FP32_PARAMS, Recipe::Fp32Params},
     {schema::Recipe::CLASSIC, Recipe::Classic},
     {schema::Recipe::PURE, Recipe::Pure}}};
constexpr EnumPairs<schema::Optimizer::Kind, Optimizer, 2> kOptimizers{
    {{schema::Optimizer::ADAM, Optimizer::Adam}, {schema::Optimizer::SGD, Optimizer::Sgd}}};
constexpr EnumPairs<schema::CrossEntropy::Kind, CrossEntropy, 3> kLosses{
    {{schema::CrossEntropy::UNFUSED, CrossEntropy::Unfused},
     {schema::CrossEntropy::FUSED, CrossEntropy::Fused},
     {schema::CrossEntropy::VOCAB_PARALLEL, CrossEntropy::VocabParallel}}};
constexpr EnumPairs<schema::Attention::Kind, AttentionImpl, 2> kAttentions{
    {{schema::Attention::FLASH, AttentionImpl::Flash},
     {schema::Attention::UNFUSED, AttentionImpl::Unfused}}};
constexpr EnumPairs<schema::Allocator::Kind, Allocator, 2> kAllocators{
    {{schema::Allocator::SEGMENTS, Allocator::Segments},
     {schema::Allocator::EXPANDABLE, Allocator::Expandable}}};
constexpr EnumPairs<schema::FlopConvention::Kind, FlopConvention, 8> kConventions{
    {{schema::FlopConvention::MEGATRON, FlopConvention::Megatron},
     {schema::FlopConvention::MEGATRON_WINDOW, FlopConvention::MegatronWindow},
     {schema::FlopConvention::MEGATRON_2021, FlopConvention::Megatron2021},
     {schema::FlopConvention::MEGATRON_2021_HARDWARE, FlopConvention::Megatron2021Hardware},
     {schema::FlopConvention::PALM, FlopConvention::Palm},
     {schema::FlopConvention::TORCHTITAN, FlopConvention::Torchtitan},
     {schema::FlopConvention::LLM_FOUNDRY, FlopConvention::LlmFoundry},
     {schema::FlopConvention::NEMO, FlopConvention::Nemo}}};

}  // namespace

Training read_training(const schema::Training& message, InputSources& sources) {
    const auto required = [&sources](bool is_set, std::int64_t value, const char* path) {
        if (!is_set && !sources.is_any_bad({path})) {
            sources.add_error(path, "is required");
        }
        return is_set ? value : std::int64_t{1};
    };
    Training training;
    training.sequence_length = required(message.has_sequence_length(), message.sequence_length(),
                                        "training.sequence_length");
    training.global_batch =
        required(message.has_global_batch(), message.global_batch(), "training.global_batch");
    training.micro_batch = message.has_micro_batch() ? message.micro_batch() : training.micro_batch;
    training.precision = from_schema(kPrecisions, message.precision());
    training.recipe = from_schema(kRecipes, message.recipe());
    training.optimizer = from_schema(kOptimizers, message.optimizer());
    if (message.has_cross_entropy()) {
        training.cross_entropy = from_schema(kLosses, message.cross_entropy());
    }
    training.attention = from_schema(kAttentions, message.attention());
    training.flop_convention = from_schema(kConventions, message.flop_convention());
    training.allocator = from_schema(kAllocators, message.allocator());
    training.compile = message.compile();
    training.cuda_graphs = message.cuda_graphs();
    training.seed = message.has_seed() ? message.seed() : training.seed;
    return training;
}

void write_training(const Training& training, schema::Training& message) {
    message.set_sequence_length(training.sequence_length);
    message.set_global_batch(training.global_batch);
    message.set_micro_batch(training.micro_batch);
    message.set_precision(to_schema(kPrecisions, training.precision));
    message.set_recipe(to_schema(kRecipes, training.recipe));
    message.set_optimizer(to_schema(kOptimizers, training.optimizer));
    message.set_cross_entropy(to_schema(kLosses, training.cross_entropy));
    message.set_attention(to_schema(kAttentions, training.attention));
    message.set_flop_convention(to_schema(kConventions, training.flop_convention));
    message.set_allocator(to_schema(kAllocators, training.allocator));
    message.set_compile(training.compile);
    message.set_cuda_graphs(training.cuda_graphs);
    message.set_seed(training.seed);
}

}  // namespace orrery
