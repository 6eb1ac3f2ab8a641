// attention.standard: every step a launch, S and P whole in memory.
#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "model/kernels/attention/backward.hpp"
#include "model/kernels/attention/forward.hpp"
#include "model/kernels/attention/models.hpp"
#include "model/kernels/attention/standard.hpp"
#include "model/kernels/common/plan_parts.hpp"
#include "model/kernels/compiled.hpp"
#include "model/kernels/gemm/tensor_models.hpp"

namespace roofcast::attention {
namespace {

using gemm::tensor::Operands;

/// The problem, and what its launches are made from.
struct Parts {
  const Problem& p;
  const Gpu& gpu;
  Shape shape;

  double score_bytes() const { return shape.all_scores() * shape.element; }
  ArrayUse score_reads(ArrayId array) const { return scratch(array, {score_bytes(), 0}); }
  ArrayUse score_writes(ArrayId array) const { return scratch(array, {0, score_bytes()}); }
  ArrayUse score_updates(ArrayId array) const {
    return scratch(array, {score_bytes(), score_bytes()});
  }
  ArrayUse kept(Traffic each) const { return scratch(kKept, shape.all_scores() * each); }
};

// A product with operands and result as they stand in memory: rows `pitch` elements apart.
struct Product {
  std::int64_t m, n, k;
  std::int64_t batch;
  standard::Operands layout;
  ArrayUse a;
  std::int64_t a_pitch;
  ArrayUse b;
  std::int64_t b_pitch;
  ArrayUse result;
};

Plan launch_of_product(const Parts& c, const Product& product) {
  Problem p;
  p.dtype = c.p.dtype;
  p[gemm::kM] = product.m;
  p[gemm::kN] = product.n;
  p[gemm::kK] = product.k;
  p[gemm::tensor::kTransposedB] = product.layout == standard::Operands::nt ? 1 : 0;
  p[gemm::tensor::kBatch] = product.batch;
  p[gemm::tensor::kLdc] = ceil_div(product.n, 8) * 8;  // rows of results are whole vectors
  const std::int64_t size = element_bytes(p.dtype);
  const Operands operands{gemm::tensor::operand(product.a, product.a_pitch * size),
                          gemm::tensor::operand(product.b, product.b_pitch * size)};
  const gemm::tensor::MmaTile& tile = standard::kTiles[standard::tile_of(product.n)];
  Plan plan = gemm::tensor::mma_sync_batch(p, tile, operands, product.result, c.gpu);
  plan.launch.registers = compiled::registers(
      "gemm::product_kernel", p.dtype, tile.m, tile.n, tile.k_bytes / size, tile.warps_down,
      tile.warps_across, tile.stages, tile.blocks, product.layout == standard::Operands::nt,
      product.layout == standard::Operands::tn);
  // Masked scores are computed, but no result needs them.
  plan.useful.tensor_flops[p.dtype] = c.shape.product_flops();
  return plan;
}

// The queries of the heads that share K and V are the rows of one matrix.
//
// [queries, keys] = rows of queries · rows of keysᵀ.
Plan scores_of(const Parts& c, const ArrayUse& queries, const ArrayUse& keys, ArrayId result) {
  const Shape& s = c.shape;
  return launch_of_product(
      c, {s.group() * s.seq_q, s.seq_kv, s.head_dim, s.batch * s.kv_heads, standard::Operands::nt,
          queries, s.head_dim, keys, s.head_dim, c.score_writes(result)});
}

// [queries, head] = scores · rows of keys.
Plan over_keys(const Parts& c, ArrayId scores, const ArrayUse& keys, const ArrayUse& result) {
  const Shape& s = c.shape;
  return launch_of_product(
      c, {s.group() * s.seq_q, s.head_dim, s.seq_kv, s.batch * s.kv_heads, standard::Operands::nn,
          c.score_reads(scores), standard::row_of(s.seq_kv), keys, s.head_dim, result});
}

// [keys, head] = scoresᵀ · rows of queries.
Plan over_queries(const Parts& c, ArrayId scores, const ArrayUse& queries, ArrayId result) {
  const Shape& s = c.shape;
  return launch_of_product(
      c, {s.seq_kv, s.head_dim, s.seq_q * s.group(), s.batch * s.kv_heads, standard::Operands::tn,
          c.score_reads(scores), standard::row_of(s.seq_kv), queries, s.head_dim,
          writes(result, s.kv_bytes())});
}

// A launch that goes over all scores once, so many instructions for eight of them.
Plan pass(const Parts& c, double instructions, std::vector<ArrayUse> arrays) {
  Plan plan = pass_over(c.shape.all_scores(), instructions, std::move(arrays));
  plan.notes.caveat = kUnmeasured;
  return plan;
}

constexpr std::int64_t kVectorScores = 8;  // of 16 bytes
// Of a thread for a score: of the softmax for each that it has registers for; of its rows too long for that; of backward. By the counters, less what
// gemm.mma_sync counts for the products. Rows too long: twice what both take, an estimate.
constexpr double kSlotInstructions = 17, kAgainInstructions = 52;
constexpr double kGradientInstructions = 21;

// Where P stands: in place of S, unless passes between them keep both.
ArrayId weights_of(Passes passes) {
  return passes == kPlain ? kS : kP;
}

// The launch of a pass over rows of scores, without its steps.
Plan over_rows(const Parts& c, std::int64_t registers) {
  const Shape& s = c.shape;
  const standard::RowLayout layout = standard::row_layout(s.seq_kv);
  Plan plan;
  plan.launch.grid[0] = ceil_div(s.batch * s.heads * s.seq_q, layout.rows);
  plan.launch.block[0] = layout.threads;
  plan.launch.block[1] = layout.rows;
  plan.launch.registers = registers;
  plan.launch.shared_bytes = standard::kRowThreads / 32 * static_cast<std::int64_t>(kSumElement);
  plan.useful.special_flops = s.scores();
  return plan;
}

// So many values of a row from all its threads: shuffles, and where a row has several warps their
// meeting and as many shuffles again.
void add_reductions(Step& step, double count, const standard::RowLayout& layout) {
  const bool several = layout.threads > 32;
  step.waits.shared += count * (several ? 10 : 5);
  step.waits.barriers += several ? 2 * count : 0;
}

// P and the log-sum-exp. Rows too long to be held are read again.
Plan softmax_of(const Parts& c, Passes passes) {
  const Shape& s = c.shape;
  const standard::RowLayout layout = standard::row_layout(s.seq_kv);
  const bool held = s.seq_kv <= standard::kHeldKeys;
  Plan plan = over_rows(c, compiled::registers("attention::softmax_kernel", c.p.dtype, held));
  plan.useful.vector_flops = 5 * s.scores();
  plan.useful.conversions = s.scores() / 2;
  plan.arrays = {c.score_reads(kS), c.score_writes(weights_of(passes))};
  const double blocks = as_double(plan.launch.blocks());
  const double of_block = c.shape.all_scores() / blocks;
  double written = c.score_bytes();
  if (passes == kPlain) {
    plan.arrays.push_back(writes(kLse, s.rows_bytes()));
    written += s.rows_bytes();
  }
  const double slots =
      as_double(layout.rows * layout.threads * standard::kHeldVectors * kVectorScores);
  Step step;
  step.issued.special_flops = held ? slots : 2 * of_block;
  step.warp_instructions = (held ? slots * kSlotInstructions : of_block * kAgainInstructions) / 32;
  step.waits.global = 1;
  add_reductions(step, 2, layout);
  set_traffic(step.issued, {(held ? 1 : 2) * c.score_bytes() / blocks, written / blocks});
  if (held) {
    set_blocks(plan, {{step}});
    return plan;
  }
  const double row_bytes = as_double(s.seq_kv) * s.element;
  plan.reuse = {
      {.bytes = c.score_bytes(), .distance_bytes = row_bytes, .l2_distance_bytes = 2 * row_bytes}};
  // One trip for each vector of a thread, in either sweep.
  step.waits.global =
      2 * std::ceil(as_double(s.seq_kv) / as_double(kVectorScores * layout.threads));
  set_blocks(plan, {{step}});
  return plan;
}

// Of eight scores: loads, stores and conversions, and two instructions of each for the arithmetic.
constexpr double kPassInstructions = 40;
// The same of two matrices in and two out, with an exponential.
constexpr double kKeptInstructions = 96;

LaunchSequence forward(const Parts& c, Passes passes) {
  const Shape& s = c.shape;
  LaunchSequence program;
  program.push_back({scores_of(c, reads_activation(kQ, s.q_bytes()), kv_input(s, kK), kS)});
  if (passes == kMaskDropout) {
    program.push_back({pass(c, kPassInstructions, {c.score_updates(kS)})});
  }
  program.push_back({softmax_of(c, passes)});
  if (passes == kMaskDropout) {
    program.push_back({pass(c, kPassInstructions,
                            {c.score_reads(kP), c.score_writes(kDropped), c.kept({0, 1})})});
  }
  program.push_back({over_keys(c, passes == kMaskDropout ? kDropped : kS, kv_input(s, kV),
                               writes(kO, s.q_bytes()))});
  return program;
}

void add_gradients(LaunchSequence& program, const Parts& c) {
  const Shape& s = c.shape;
  program.push_back({over_keys(c, kDP, reads(kK, s.kv_bytes()), writes(kDQ, s.q_bytes()))});
  program.push_back({over_queries(c, kDP, reads(kQ, s.q_bytes()), kDK)});
}

// P from the log-sum-exp in the place of S, dS in that of dP; D of each row first.
Plan gradient_of(const Parts& c) {
  constexpr double kAtOnce = 2;  // vectors that a thread loads together
  const Shape& s = c.shape;
  const standard::RowLayout layout = standard::row_layout(s.seq_kv);
  Plan plan = over_rows(c, compiled::registers("attention::gradient_kernel", c.p.dtype));
  plan.arrays = {c.score_updates(kS), c.score_updates(kDP), reads(kDO, s.q_bytes()),
                 reads(kO, s.q_bytes()), reads(kLse, s.rows_bytes())};
  plan.useful.vector_flops = 4 * s.scores() + 2 * s.q_bytes() / s.element;
  plan.useful.conversions = s.scores();
  const double blocks = as_double(plan.launch.blocks());
  const double of_block = c.shape.all_scores() / blocks;
  Step dots;
  dots.waits.global = 1;
  set_traffic(dots.issued, {(2 * s.q_bytes() + s.rows_bytes()) / blocks, 0});
  const double trips =
      std::ceil(as_double(s.seq_kv) / (kAtOnce * as_double(kVectorScores * layout.threads)));
  Step scores;
  scores.issued.special_flops = of_block / trips;
  scores.warp_instructions = of_block / trips / 32 * kGradientInstructions;
  scores.waits.global = 1;
  set_traffic(scores.issued,
              {2 * c.score_bytes() / blocks / trips, 2 * c.score_bytes() / blocks / trips});
  set_blocks(plan, {{dots}, {scores, trips}});
  return plan;
}

LaunchSequence backward(const Parts& c) {
  const Shape& s = c.shape;
  LaunchSequence program;
  program.push_back({scores_of(c, reads(kQ, s.q_bytes()), reads(kK, s.kv_bytes()), kS)});
  program.push_back({scores_of(c, gradient_input(s), reads(kV, s.kv_bytes()), kDP)});
  program.push_back({gradient_of(c)});
  program.push_back({over_queries(c, kS, reads(kDO, s.q_bytes()), kDV)});
  add_gradients(program, c);
  return program;
}

// With P and what dropout kept from forward. The gradient of a mask that was added is that of the
// sum.
LaunchSequence backward_of_kept(const Parts& c) {
  const Shape& s = c.shape;
  LaunchSequence program;
  program.push_back({over_queries(c, kDropped, gradient_input(s), kDV)});
  program.push_back({scores_of(c, gradient_input(s), reads(kV, s.kv_bytes()), kDP)});
  program.push_back({pass(c, kPassInstructions, {c.score_updates(kDP), c.kept({1, 0})})});
  program.push_back({pass(c, kKeptInstructions, {c.score_reads(kP), c.score_updates(kDP)})});
  add_gradients(program, c);
  return program;
}

// Matrices of scores that are read or written, in 16 bits: what dropout kept is half of one.
double times_through_memory(const Shape& shape, Passes passes) {
  // S out, in; P out, in. Backward: S and dP out, in; P and dS out; P in, dS in twice.
  if (passes == kPlain) return shape.backward ? 9 : 4;
  // S out, in, out, in; P out, in; after dropout out, in, and what it kept. Backward: that in; dP
  // out, in, out, in and what was kept; P in; dS out, in, in.
  return shape.backward ? 9.5 : 8.5;
}

}  // namespace

IoComplexity standard_io(const Problem& p, double compulsory_bytes, double on_chip_bytes) {
  const Shape shape(p);
  return standard_attention_io(shape.all_scores(),
                               times_through_memory(shape, static_cast<Passes>(p[kPasses])),
                               shape.element, compulsory_bytes, on_chip_bytes);
}

LaunchSequence plan_standard(const Problem& p, const Gpu& gpu) {
  const Parts c{p, gpu, Shape(p)};
  check_computable(p, c.shape, gpu);
  const auto passes = static_cast<Passes>(p[kPasses]);
  if (!c.shape.backward) return forward(c, passes);
  return passes == kPlain ? backward(c) : backward_of_kept(c);
}

}  // namespace roofcast::attention
