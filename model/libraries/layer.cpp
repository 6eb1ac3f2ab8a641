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

constexpr std::array<std::string_view, 2> kPassNames = {"forward", "backward"};
constexpr std::array<std::string_view, 1> kBackwardName = {"backward"};
constexpr std::array<std::string_view, 2> kFormNames = {"fused", "eager"};
constexpr std::array<std::string_view, 2> kAdamForms = {"fused", "foreach"};
constexpr std::array<std::string_view, 2> kScaleForms = {"static", "dynamic"};
using Names = std::span<const std::string_view>;
constexpr Names kBoth = kPassNames, kForwardAlone = kBoth.first(1), kBackwardAlone = kBackwardName,
                kEither = kFormNames, kFusedAlone = kEither.first(1);

constexpr std::int64_t kMostOf = std::int64_t{1} << 24;

constexpr std::array<roofcast::Parameter, 4> shape(Names passes, Names forms) {
  return {
      rows::kShape[0], rows::kShape[1],
      choice("pass", "forward, or the gradients", passes, kForward),
      choice("form", "one launch, or as the framework launches it piece by piece", forms, kFused)};
}

constexpr std::array kBothEither = shape(kBoth, kEither);
constexpr std::array kBothFused = shape(kBoth, kFusedAlone);
constexpr std::array kForwardFused = shape(kForwardAlone, kFusedAlone);
constexpr std::array kBackwardFused = shape(kBackwardAlone, kFusedAlone);
constexpr std::array kAdamParameters = shape(kForwardAlone, kAdamForms);
constexpr std::array kQuantizeParameters = shape(kForwardAlone, kScaleForms);
constexpr std::array kAppendParameters = shape(kForwardAlone, kEither);
constexpr std::array kEmbeddingParameters =
    with_own(kBothFused, roofcast::Parameter{"entries", "rows of the table", 1, kMostOf});
constexpr std::array kTopKParameters =
    with_own(shape(kForwardAlone, kEither),
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
    model<kEmbedding>("layer.embedding", "rows of a table by token", kEmbeddingParameters),
    model<kRotary>("layer.rotary", "queries and keys turned by their position", kBothEither),
    model<kSwiglu>("layer.swiglu", "silu(gate)·up", kBothEither),
    model<kGelu>("layer.gelu", "GELU by tanh, a launch", kBothFused),
    model<kGeluNew>("layer.gelu_new", "the same as Hugging Face's gelu_new, eight launches eager",
                    kBothEither),
    model<kAdd>("layer.add", "x + residual", kBothFused),
    model<kNormBackward>("layer.norm_backward", "gradients of x, γ and β of norm.library",
                         kBackwardFused),
    model<kPlainNorm>("layer.rmsnorm_plain", "root mean square norm on fp32 copies", kBothEither),
    model<kResidualNorm>("layer.residual_norm", "x + residual and its norm, both kept",
                         kBothEither),
    model<kDropout>("layer.dropout", "elements dropped, a mask kept", kBothFused),
    model<kCrossEntropy>("layer.cross_entropy", "log-softmax over a vocabulary and the loss",
                         kBothEither),
    kLinearLoss,
    model<kAdamw>("layer.adamw", "AdamW over many tensors, rows·cols parameters", kAdamParameters),
    model<kCacheAppend>("layer.cache_append", "keys and values of tokens to their cache",
                        kAppendParameters),
    model<kQuantize>("layer.quantize_fp8", "16 bits to 8 by a scale", kQuantizeParameters,
                     kNarrowedTypes),
    model<kQuantizeRows>("layer.quantize_rows", "16 bits to 8 by a scale of each row",
                         kForwardFused, kNarrowedTypes),
    model<kTopK>("layer.top_k", "the experts of each token and their weights", kTopKParameters)};

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
