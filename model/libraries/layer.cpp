#include "model/libraries/layer.hpp"

#include <array>
#include <span>
#include <string_view>

#include "model/kernels/common/plan_parts.hpp"
#include "model/kernels/common/rows.hpp"
#include "model/libraries/layer_operations.hpp"

namespace roofcast::layer {
namespace {

template <const Operation& kOperation>
LaunchSequence plan(const Problem& problem, const Gpu& gpu) {
  return plan_of(kOperation, problem, gpu);
}

template <const Operation& kOperation>
Work work(const Problem& problem) {
  return work_of(kOperation, problem);
}

using Names = std::span<const std::string_view>;
constexpr std::array<std::string_view, 2> kPassNames = {"forward", "backward"};
constexpr std::array<std::string_view, 1> kBackwardName = {"backward"};
constexpr std::array<std::string_view, 2> kFormNames = {"fused", "eager"};
constexpr std::array<std::string_view, 2> kAdamNames = {"fused", "foreach"};
constexpr std::array<std::string_view, 2> kScaleNames = {"static", "dynamic"};
constexpr Names kBoth = kPassNames, kForwardAlone = kBoth.first(1), kBackwardAlone = kBackwardName;
constexpr Names kEither = kFormNames, kFusedAlone = kEither.first(1), kAdam = kAdamNames,
                kScales = kScaleNames;

template <const Names& kPasses, const Names& kForms>
constexpr std::array kShape = {
    rows::kShape[0], rows::kShape[1],
    choice("pass", "forward, or the gradients", kPasses, kForward),
    choice("form", "one launch, or as the framework launches it piece by piece", kForms, kFused)};
constexpr std::array kEmbeddingShape =
    with_own(kShape<kBoth, kFusedAlone>,
             roofcast::Parameter{"entries", "rows of the table", 1, std::int64_t{1} << 24});
constexpr std::array kTopKShape =
    with_own(kShape<kForwardAlone, kEither>,
             roofcast::Parameter{"per_token", "experts that a token passes", 1, 64});

constexpr std::array kLossParameters = {
    roofcast::Parameter{"rows", "tokens", 1, rows::kMaxRows},
    roofcast::Parameter{"cols", "words of the vocabulary", 1, rows::kMaxCols},
    choice("pass", "the loss alone, or the loss and the gradients of input and weights", kPassNames,
           kForward),
    roofcast::Parameter{"hidden", "elements of a token", 64, std::int64_t{1} << 20},
    setting("tile_m", "rows of the products' tiles; 0: to choose", kToChoose, 512, kToChoose),
    setting("tile_n", "columns of the products' tiles; 0: to choose", kToChoose, 512, kToChoose)};

constexpr std::array kTypes = {DType::fp32, DType::fp16, DType::bf16};
constexpr std::array kNarrowedTypes = {DType::bf16, DType::fp16};

template <const Operation& kOperation>
constexpr KernelModel model(std::string_view name, std::string_view summary,
                            std::span<const roofcast::Parameter> parameters,
                            std::span<const DType> types = kTypes) {
  KernelModel one{name, summary, parameters, types, plan<kOperation>};
  one.work = work<kOperation>;
  return one;
}

constexpr KernelModel kLinearLoss = {
    .name = "layer.linear_cross_entropy",
    .summary = "the vocabulary's product and the loss, a chunk of tokens at a time",
    .parameters = kLossParameters,
    .dtypes = kNarrowedTypes,
    .plan = plan_linear_loss,
    .candidates = linear_loss_candidates,
    .own_choice = kLossTile,
    .work = linear_loss_work,
    .io = linear_loss_io};

constexpr std::array kVariants = {
    model<kEmbedding>("layer.embedding", "rows of a table by token", kEmbeddingShape),
    model<kRotary>("layer.rotary", "queries and keys turned by their position",
                   kShape<kBoth, kEither>),
    model<kSwiglu>("layer.swiglu", "silu(gate)·up", kShape<kBoth, kEither>),
    model<kGelu>("layer.gelu", "GELU by tanh, a launch", kShape<kBoth, kFusedAlone>),
    model<kGeluNew>("layer.gelu_new", "the same as Hugging Face's gelu_new, eight launches eager",
                    kShape<kBoth, kEither>),
    model<kAdd>("layer.add", "x + residual", kShape<kBoth, kFusedAlone>),
    model<kNormBackward>("layer.norm_backward", "gradients of x, γ and β of norm.library",
                         kShape<kBackwardAlone, kFusedAlone>),
    model<kPlainNorm>("layer.rmsnorm_plain", "root mean square norm on fp32 copies",
                      kShape<kBoth, kEither>),
    model<kResidualNorm>("layer.residual_norm", "x + residual and its norm, both kept",
                         kShape<kBoth, kEither>),
    model<kDropout>("layer.dropout", "elements dropped, a mask kept", kShape<kBoth, kFusedAlone>),
    model<kCrossEntropy>("layer.cross_entropy", "log-softmax over a vocabulary and the loss",
                         kShape<kBoth, kEither>),
    kLinearLoss,
    model<kAdamw>("layer.adamw", "AdamW over many tensors, rows·cols parameters",
                  kShape<kForwardAlone, kAdam>),
    model<kCacheAppend>("layer.cache_append", "keys and values of tokens to their cache",
                        kShape<kForwardAlone, kEither>),
    model<kQuantize>("layer.quantize_fp8", "16 bits to 8 by a scale",
                     kShape<kForwardAlone, kScales>, kNarrowedTypes),
    model<kQuantizeRows>("layer.quantize_rows", "16 bits to 8 by a scale of each row",
                         kShape<kForwardAlone, kFusedAlone>, kNarrowedTypes),
    model<kTopK>("layer.top_k", "the experts of each token and their weights", kTopKShape)};

}  // namespace

constinit const KernelFamily kFamily = {
    .name = "layer",
    .summary = "what a transformer does beside products, attention and experts",
    .parameters = rows::kShape,
    .dtypes = kTypes,
    .work = nullptr,
    .io = streaming,
    .variants = kVariants,
    .validated = {}};

}  // namespace roofcast::layer
