#include "model/libraries/layer.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <string_view>
#include <utility>

#include "model/kernels/common/plan_parts.hpp"
#include "model/kernels/common/rows.hpp"
#include "model/libraries/layer_operations.hpp"

namespace roofcast::layer {
namespace {

Counted counted(const Movement& movement, const Problem& p) {
  return {movement, p.dtype, as_double(p[kRows]), as_double(p[kCols]), as_double(p[kOf])};
}

Launches launches_of(const Operation& operation, const Problem& p, std::int64_t form) {
  constexpr std::int64_t kMostUnsorted = 3072;  // PyTorch sorts gradients of more indices
  const bool backward = p[kPass] == kBackward;
  const Launches& sorted = operation.sorted_backward;
  if (backward && p[kRows] > kMostUnsorted && sorted.size() > 0) return sorted;
  const Launches& eager = backward ? operation.eager_backward : operation.eager;
  if (form == kEager && eager.size() > 0) return eager;
  return backward ? operation.fused_backward : operation.fused;
}

// layer_norm_kernel.cu: with many rows and few columns.
bool splits_rows(const Counted& all, const Gpu& gpu) {
  constexpr double kManyRows = 65536;
  return all.movement.walk == Walk::columns && all.movement.threads == 0 && all.rows > kManyRows &&
         std::floor(all.cols / as_double(rows::kWarp)) < as_double(gpu.slots(1) / 2);
}

/// Splits a launch of more elements than one takes into full launches and one for the rest. If few
/// columns leave SMs idle, blocks sum parts of the rows; two launches reduce these to γ and β.
std::vector<Counted> parts_of(const Counted& all, const Gpu& gpu) {
  if (splits_rows(all, gpu)) {
    return {{kNormParts, all.type, all.rows, all.cols},
            {kPartSums, all.type, all.row_splits(), all.cols}};
  }
  const double most = all.movement.most_elements;
  if (most <= 0 || all.elements() <= most) return {all};
  Counted full = all, rest = all;
  full.launches *= std::floor(all.elements() / most);
  full.rows = most / all.cols;
  rest.rows -= full.launches / all.launches * full.rows;
  return rest.rows > 0 ? std::vector<Counted>{full, rest} : std::vector<Counted>{full};
}

/// FLOPs and compulsory bytes of the fused form.
Work work_of(const Operation& operation, const Problem& p) {
  Work work;
  for (const Movement& movement : launches_of(operation, p, kFused)) {
    const Counted one = counted(movement, p);
    work += one.work();
    work.compulsory += one.launches * one.bytes();
  }
  return work;
}

using Names = std::span<const std::string_view>;
constexpr std::array<std::string_view, 2> kFormNames = {"fused", "eager"};
constexpr std::array<std::string_view, 2> kAdamNames = {"fused", "foreach"};
constexpr std::array<std::string_view, 2> kScaleNames = {"static", "dynamic"};
constexpr Names kBoth = kPassNames, kForwardAlone = kBoth.first(1), kBackwardAlone = kBoth.last(1);
constexpr Names kEither = kFormNames, kFusedAlone = kEither.first(1), kAdam = kAdamNames,
                kScales = kScaleNames;

template <const Names& kPasses = kBoth, const Names& kForms = kEither>
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
    open_setting("tile_m", "rows of the products' tiles; 0: to choose", 512),
    open_setting("tile_n", "columns of the products' tiles; 0: to choose", 512)};

constexpr std::array kNarrowedTypes = {DType::bf16, DType::fp16};

LaunchSequence plan_of(const Operation& operation, const Problem& p, const Gpu& gpu) {
  LaunchSequence sequence = plan_of(launches_of(operation, p, p[kForm]), p, gpu);
  for (Launched& node : sequence) {
    node.plan.notes.guessed_kernel = true;
    node.plan.notes.caveat =
        "bytes, launches and waits are counted from the framework's source; registers are an "
        "estimate";
  }
  return sequence;
}

template <const Operation& kOperation>
constexpr KernelModel model(std::string_view name, std::string_view summary,
                            std::span<const roofcast::Parameter> parameters = kShape<>,
                            std::span<const DType> types = rows::kTypes) {
  return {.name = name,
          .summary = summary,
          .parameters = parameters,
          .dtypes = types,
          .plan = [](const Problem& p, const Gpu& gpu) { return plan_of(kOperation, p, gpu); },
          .work = [](const Problem& p) { return work_of(kOperation, p); }};
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
    model<kRotary>("layer.rotary", "queries and keys rotated by their position"),
    model<kSwiglu>("layer.swiglu", "silu(gate)·up"),
    model<kGelu>("layer.gelu", "GELU by tanh, a launch", kShape<kBoth, kFusedAlone>),
    model<kGelu>("layer.gelu_new", "the same as Hugging Face's gelu_new, eight launches eager"),
    model<kAdd>("layer.add", "x + residual", kShape<kBoth, kFusedAlone>),
    model<kNormBackward>("layer.norm_backward", "gradients of x, γ and β of norm.library",
                         kShape<kBackwardAlone, kFusedAlone>),
    model<kPlainNorm>("layer.rmsnorm_plain", "root mean square norm on fp32 copies"),
    model<kResidualNorm>("layer.residual_norm", "x + residual and its norm, both kept"),
    model<kDropout>("layer.dropout", "elements dropped, a mask kept", kShape<kBoth, kFusedAlone>),
    model<kCrossEntropy>("layer.cross_entropy", "log-softmax over a vocabulary and the loss"),
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

// A warp that sums columns reads 32 neighbouring elements of a row: a line of fp32. Half lines of
// 16-bit types cost as much DRAM time as scattered accesses.
double density_of(Walk walk, DType type) {
  if (walk != Walk::columns && walk != Walk::table_columns) return 1;
  return type == DType::fp32 ? kDensityOfLines : 0;
}

}  // namespace

// A launch reads the output of the launch before it.
LaunchSequence plan_of(const Launches& movements, const Problem& p, const Gpu& gpu) {
  LaunchSequence sequence;
  ArrayId input = 0;
  double handed = 0;
  for (const Movement& movement : movements) {
    const bool is_last = &movement + 1 == movements.end();
    const ArrayId output = input + 1, before = input - 1;
    const Counted whole = counted(movement, p);
    for (const Counted& one : parts_of(whole, gpu)) {
      const Traffic all = one.bytes();
      const double taken = movement.follows ? std::min(handed, all.read_bytes) : 0;
      const double given = all.read_bytes - taken;
      Plan plan = plan_of(one);
      plan.arrays.clear();
      if (taken > 0) plan.arrays.push_back(scratch(before, {taken, 0}));
      if (given > 0) {
        plan.arrays.push_back(sequence.empty() ? reads_activation(input, given)
                                               : reads(input, given));
      }
      if (all.write_bytes > 0) {
        plan.arrays.push_back(is_last ? writes(output, all.write_bytes)
                                      : scratch(output, {0, all.write_bytes}));
      }
      for (ArrayUse& use : plan.arrays) {
        use.pattern.read_density = density_of(movement.walk, p.dtype);
      }
      plan.notes.estimated_traffic = true;
      sequence.push_back({std::move(plan), one.launches});
    }
    handed = whole.bytes().write_bytes;
    input += 2;
  }
  return sequence;
}

constinit const KernelFamily kFamily = {
    .name = "layer",
    .summary = "what a transformer does beside products, attention and experts",
    .parameters = rows::kShape,
    .dtypes = rows::kTypes,
    .variants = kVariants};

}  // namespace roofcast::layer
