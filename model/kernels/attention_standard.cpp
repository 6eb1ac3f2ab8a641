// attention.standard: every step a launch, S and P whole in memory.
#include <algorithm>
#include <utility>
#include <vector>

#include "model/kernels/attention_backward.hpp"
#include "model/kernels/attention_models.hpp"
#include "model/kernels/gemm_tensor_models.hpp"
#include "model/kernels/plan_parts.hpp"
#include "model/kernels/softmax.hpp"

namespace roofcast::attention {
namespace {

using gemm::tensor::Operands;

/// The problem, and what its launches are made from.
struct Parts {
  const Problem& p;
  const Gpu& gpu;
  Shape shape;

  /// All scores, masked ones too.
  double scores() const {
    return as_double(shape.batch * shape.heads) * as_double(shape.seq_q) * as_double(shape.seq_kv);
  }
  double score_bytes() const { return scores() * shape.element; }
  ArrayUse score_reads(ArrayId array) const { return scratch(array, {score_bytes(), 0}); }
  ArrayUse score_writes(ArrayId array) const { return scratch(array, {0, score_bytes()}); }
  ArrayUse score_updates(ArrayId array) const {
    return scratch(array, {score_bytes(), score_bytes()});
  }
  ArrayUse kept(Traffic each) const { return scratch(kKept, scores() * each); }
};

// A product with operands and result as they stand in memory: rows `pitch` elements apart.
struct Product {
  std::int64_t m, n, k;
  std::int64_t batch;
  bool transposed_b;
  ArrayUse a;
  std::int64_t a_pitch;
  ArrayUse b;
  std::int64_t b_pitch;
  ArrayUse result;
};

Plan launch_of_product(const Parts& c, const Product& product) {
  constexpr std::int64_t kTile = 128, kDepthBytes = 64;
  Problem p;
  p.dtype = c.p.dtype;
  p[gemm::kM] = product.m;
  p[gemm::kN] = product.n;
  p[gemm::kK] = product.k;
  p[gemm::kTileM] = p[gemm::kTileN] = kTile;
  p[gemm::kTileK] = kDepthBytes / element_bytes(p.dtype);
  p[gemm::tensor::kTransposedB] = product.transposed_b ? 1 : 0;
  const std::int64_t size = element_bytes(p.dtype);
  const Operands operands{gemm::tensor::operand(product.a, product.a_pitch * size),
                          gemm::tensor::operand(product.b, product.b_pitch * size)};
  Plan plan = gemm::tensor::mma_sync_batch(p, product.batch, operands, product.result, c.gpu);
  // Masked scores are computed, but no result needs them.
  plan.useful.tensor_flops[p.dtype] = c.shape.product_flops();
  plan.caveat = kUnmeasured;
  return plan;
}

// [queries, keys] = rows of queries · rows of keysᵀ, of every query head.
Plan scores_of(const Parts& c, const ArrayUse& queries, const ArrayUse& keys, ArrayId result) {
  const Shape& s = c.shape;
  return launch_of_product(c, {s.seq_q, s.seq_kv, s.head_dim, s.batch * s.heads, true, queries,
                               s.head_dim, keys, s.head_dim, c.score_writes(result)});
}

// [queries, head] = scores · rows of keys.
Plan over_keys(const Parts& c, ArrayId scores, const ArrayUse& keys, const ArrayUse& result) {
  const Shape& s = c.shape;
  return launch_of_product(c, {s.seq_q, s.head_dim, s.seq_kv, s.batch * s.heads, false,
                               c.score_reads(scores), s.seq_kv, keys, s.head_dim, result});
}

// [keys, head] = scoresᵀ · rows of queries, those of all query heads that share the keys.
Plan over_queries(const Parts& c, ArrayId scores, const ArrayUse& queries, ArrayId result) {
  const Shape& s = c.shape;
  return launch_of_product(
      c, {s.seq_kv, s.head_dim, s.seq_q * s.group(), s.batch * s.kv_heads, false,
          c.score_reads(scores), s.seq_kv, queries, s.head_dim, writes(result, s.kv_bytes())});
}

// A launch that goes over all scores once, so many instructions for eight of them.
Plan pass(const Parts& c, double instructions, std::vector<ArrayUse> arrays) {
  Plan plan = pass_over(c.scores(), instructions, std::move(arrays));
  plan.caveat = kUnmeasured;
  return plan;
}

// P = softmax(S) and the log-sum-exp, as softmax.registers or, where rows are too long, online.
Plan softmax_of(const Parts& c, bool writes_lse) {
  const Shape& s = c.shape;
  const auto variant = [](std::string_view name) -> const KernelModel& {
    return *std::find_if(softmax::kFamily.variants.begin(), softmax::kFamily.variants.end(),
                         [name](const KernelModel& one) { return one.name == name; });
  };
  Problem matrix;
  matrix.dtype = c.p.dtype;
  matrix[rows::kRows] = s.batch * s.heads * s.seq_q;
  matrix[rows::kCols] = s.seq_kv;
  // 1024 threads with four vectors each (softmax.hpp).
  const std::int64_t size = element_bytes(c.p.dtype);
  const bool held =
      s.seq_kv * size <= rows::kMaxThreads * rows::kVectorBytes * softmax::most_vectors(size);
  const KernelModel& kernel = variant(held ? "softmax.registers" : "softmax.online");
  if (held) {
    matrix = kernel.candidates(matrix, c.gpu).front();
  } else {
    matrix[softmax::kThreads] = rows::kMaxThreads;
  }
  Plan plan = std::move(kernel.plan(matrix, c.gpu).front().plan);
  // The same arrays, of this program; what rows ask for beyond their own bytes stays.
  ArrayUse& x = plan.arrays[0];
  x = c.score_reads(kS);
  ArrayUse& y = plan.arrays[1];
  y.array = kP;
  y.compulsory = {};
  if (writes_lse) {
    plan.arrays.push_back(writes(kLse, s.rows_bytes()));
    const double blocks = as_double(plan.launch.blocks());
    Work& issued = plan.blocks.front().phases.back().step.issued;
    for (Traffic* level : {&issued.requested, &issued.l1, &issued.l2}) {
      level->write_bytes += s.rows_bytes() / blocks;
    }
  }
  // Of scores that are seen.
  const double seen = s.scores() / c.scores();
  plan.useful.special_flops *= seen;
  plan.useful.vector_flops *= seen;
  plan.useful.conversions *= seen;
  plan.caveat = kUnmeasured;
  return plan;
}

// Of eight scores: loads, stores and conversions, and two instructions of each for the arithmetic.
constexpr double kPassInstructions = 40;
// Backward's pass: two matrices in and two out, and an exponential.
constexpr double kGradientInstructions = 96;

Program forward(const Parts& c, Passes passes) {
  const Shape& s = c.shape;
  const auto kv = s.seq_q == s.seq_kv ? reads_activation : reads;
  Program program;
  program.push_back({scores_of(c, reads_activation(kQ, s.q_bytes()), kv(kK, s.kv_bytes()), kS)});
  if (passes == kMaskDropout) {
    program.push_back({pass(c, kPassInstructions, {c.score_updates(kS)})});
  }
  program.push_back({softmax_of(c, passes == kPlain)});
  if (passes == kMaskDropout) {
    program.push_back({pass(c, kPassInstructions,
                            {c.score_reads(kP), c.score_writes(kDropped), c.kept({0, 1})})});
  }
  program.push_back({over_keys(c, passes == kMaskDropout ? kDropped : kP, kv(kV, s.kv_bytes()),
                               writes(kO, s.q_bytes()))});
  return program;
}

void add_gradients(Program& program, const Parts& c) {
  const Shape& s = c.shape;
  program.push_back({over_keys(c, kDP, reads(kK, s.kv_bytes()), writes(kDQ, s.q_bytes()))});
  program.push_back({over_queries(c, kDP, reads(kQ, s.q_bytes()), kDK)});
}

// P from the log-sum-exp, dS in the place of dP.
Program backward(const Parts& c) {
  const Shape& s = c.shape;
  Program program;
  const Backward rows{.shape = s,
                      .kernel = {},
                      .keys = {},
                      .rows = {s.seq_q, s.head_dim, ceil_div(s.head_dim, 8)},
                      .dq = kTwoPass};
  program.push_back({row_dots(rows)});
  program.push_back({scores_of(c, reads(kQ, s.q_bytes()), reads(kK, s.kv_bytes()), kS)});
  program.push_back({scores_of(c, reads(kDO, s.q_bytes()), reads(kV, s.kv_bytes()), kDP)});
  Plan gradient = pass(c, kGradientInstructions,
                       {c.score_reads(kS), c.score_writes(kP), c.score_updates(kDP),
                        scratch(kRowDots, {rows.row_number_bytes(), 0})});
  gradient.useful.special_flops = s.scores();
  gradient.blocks.front().phases.front().step.issued.special_flops =
      c.scores() / as_double(gradient.launch.blocks());
  program.push_back({std::move(gradient)});
  program.push_back({over_queries(c, kP, reads(kDO, s.q_bytes()), kDV)});
  add_gradients(program, c);
  return program;
}

// With P and what dropout kept from forward. The gradient of a mask that was added is that of the sum.
Program backward_of_kept(const Parts& c) {
  const Shape& s = c.shape;
  Program program;
  ArrayUse d_o = reads_activation(kDO, s.q_bytes());
  d_o.input = static_cast<std::size_t>(kDO);
  program.push_back({over_queries(c, kDropped, d_o, kDV)});
  program.push_back({scores_of(c, d_o, reads(kV, s.kv_bytes()), kDP)});
  program.push_back({pass(c, kPassInstructions, {c.score_updates(kDP), c.kept({1, 0})})});
  program.push_back({pass(c, kGradientInstructions, {c.score_reads(kP), c.score_updates(kDP)})});
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
  const double scores =
      as_double(shape.batch * shape.heads) * as_double(shape.seq_q) * as_double(shape.seq_kv);
  return standard_attention_io(scores, times_through_memory(shape, static_cast<Passes>(p[kPasses])),
                               shape.element, compulsory_bytes, on_chip_bytes);
}

Program plan_standard(const Problem& p, const Gpu& gpu) {
  const Parts c{p, gpu, Shape(p)};
  check_computable(p, c.shape, gpu);
  const auto passes = static_cast<Passes>(p[kPasses]);
  if (!c.shape.backward) return forward(c, passes);
  return passes == kPlain ? backward(c) : backward_of_kept(c);
}

}  // namespace roofcast::attention
