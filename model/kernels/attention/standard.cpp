// attention.standard: each step is a launch, S and P lie whole in memory.
#include <cmath>
#include <utility>

#include "model/kernels/attention/blocks.hpp"
#include "model/kernels/gemm/tensor_plan.hpp"

namespace roofcast::attention {
namespace {

namespace tensor = gemm::tensor;
using gemm::kNN, gemm::kNT, gemm::kTN;

constexpr Traffic kRead{1, 0}, kWrite{0, 1}, kUpdate{1, 1};

// Thread instructions per eight scores: loads, stores, conversions, two arithmetic ones per score.
constexpr double kPassInstructions = 40;
// As kPassInstructions, for two matrices in and two out, with an exponential.
constexpr double kKeptInstructions = 96;

/// The launch sequence, to which members append launches.
struct Sequence {
  const Problem& p;
  const Gpu& gpu;
  Shape s = computable_shape(p, gpu);
  Passes passes = static_cast<Passes>(p[kPasses]);
  standard::RowLayout layout = standard::row_layout(s.seq_kv);
  LaunchSequence launches{};

  double score_bytes() const { return s.all_scores() * s.element; }
  ArrayUse scores(ArrayId array, Traffic times) const {
    return scratch(array, score_bytes() * times);
  }
  ArrayUse kept(Traffic times) const { return scratch(kKept, s.all_scores() * times); }

  // Appends a batch of products, one for each head of K and V. The queries of the heads that share
  // K and V are the rows of one matrix. nt: [queries, keys] = queries · keysᵀ; nn: [queries, head]
  // = scores · keys; tn: [keys, head] = scoresᵀ · queries.
  void multiply(gemm::Layout stored, const ArrayUse& a, const ArrayUse& b, const ArrayUse& result) {
    const bool nt = stored == kNT, tn = stored == kTN;
    const std::int64_t queries = s.group() * s.seq_q, n = nt ? s.seq_kv : s.head_dim;
    const std::int64_t along = nt ? s.head_dim : s.seq_kv;  // columns of A as stored
    Problem product{.dtype = p.dtype, .values = {tn ? along : queries, n, tn ? queries : along}};
    product[tensor::kTransposedB] = nt ? 1 : 0;
    product[tensor::kBatch] = s.batch * s.kv_heads;
    product[tensor::kLdc] = round_up(n, kVectorElements);  // whole vectors
    const std::int64_t size = element_bytes(p.dtype);
    const std::int64_t pitch = nt ? s.head_dim : standard::row_of(s.seq_kv);
    const tensor::MmaTile& tile = standard::kTiles[standard::tile_of(n)];
    Plan plan = tensor::mma_sync_launch({product, tensor::shape_of(tile, p.dtype)}, tile, false,
                                        {{a, pitch * size}, {b, s.head_dim * size}}, result, gpu);
    plan.launch.registers = tensor::registers_of("gemm::product_kernel", p.dtype, tile, nt, tn);
    // Masked scores are computed, but no result needs them.
    plan.useful.tensor_flops[p.dtype] = s.product_flops();
    launches.push_back({std::move(plan)});
  }

  // Appends an elementwise pass over all scores. `instructions`: per thread and eight scores,
  // counted by hand, not measured.
  void pass(double instructions, std::vector<ArrayUse> arrays) {
    launches.push_back({pass_over(s.all_scores(), instructions, std::move(arrays))});
  }

  // The launch of a pass over rows of scores, without its steps.
  Plan over_rows(std::int64_t registers, std::vector<ArrayUse> arrays) const {
    Plan plan =
        launch_plan(ceil_div(s.batch * s.heads * s.seq_q, layout.rows),
                    {layout.threads, layout.rows, 1}, registers, standard::kRowThreads / 32 * 4);
    plan.useful.special_flops = s.scores();
    plan.arrays = std::move(arrays);
    return plan;
  }

  // Writes P and the log-sum-exp, P in place of S (kPlain); or P alone, beside S (kMaskDropout).
  void softmax() {
    const bool held = s.seq_kv <= standard::kHeldKeys;
    const compiled::Kernel kernel = compiled::kernel("attention::softmax_kernel", p.dtype, held);
    Plan plan = over_rows(kernel.registers,
                          {scores(kS, kRead), scores(passes == kPlain ? kS : kP, kWrite)});
    if (passes == kPlain) plan.arrays.push_back(writes(kLse, s.rows_bytes()));
    plan.useful.vector_flops = 5 * s.scores();
    plan.useful.conversions = s.scores() / 2;
    const double blocks = as_double(plan.launch.blocks()), of_block = s.all_scores() / blocks;
    const double slots =
        as_double(layout.rows * layout.threads * standard::kHeldVectors * kVectorElements);
    // A row's maximum and sum: shuffles in a warp; with several warps barriers, and shuffles again.
    const bool several = layout.threads > 32;
    const double written = score_bytes() + (passes == kPlain ? s.rows_bytes() : 0);
    Step step;
    step.waits = {.global = 1, .shared = several ? 20.0 : 10.0, .barriers = several ? 4.0 : 0.0};
    if (held) {
      step.issued.special_flops = slots;
      step.warp_instructions = plan.launch.warps() * kernel.straight;
    } else {
      step.issued.special_flops = 2 * of_block;
      step.warp_instructions =
          of_block / 32 / kVectorElements * (kernel.loops[0] + kernel.loops[1]);
      // One round trip per vector of a thread, in each of the two sweeps.
      step.waits.global =
          2 * std::ceil(as_double(s.seq_kv) / as_double(kVectorElements * layout.threads));
    }
    set_traffic(step.issued, {(held ? 1 : 2) * score_bytes() / blocks, written / blocks});
    set_blocks(plan, {{step}});
    launches.push_back({std::move(plan)});
  }

  // Computes D of each row, then P from the log-sum-exp, in place of S, and dS in place of dP.
  void gradient() {
    constexpr double kAtOnce = 2;  // vectors that a thread loads together
    const compiled::Kernel kernel = compiled::kernel("attention::gradient_kernel", p.dtype);
    Plan plan = over_rows(kernel.registers,
                          {scores(kS, kUpdate), scores(kDP, kUpdate), reads(kDO, s.q_bytes()),
                           reads(kO, s.q_bytes()), reads(kLse, s.rows_bytes())});
    plan.useful.vector_flops = 4 * s.scores() + 2 * s.q_bytes() / s.element;
    plan.useful.conversions = s.scores();
    const double trips =
        std::ceil(as_double(s.seq_kv) / (kAtOnce * as_double(kVectorElements * layout.threads)));
    const double blocks = as_double(plan.launch.blocks()), parts = blocks * trips;
    Step dots, step;
    dots.waits.global = step.waits.global = 1;
    set_traffic(dots.issued, {(2 * s.q_bytes() + s.rows_bytes()) / blocks, 0});
    step.issued.special_flops = s.all_scores() / parts;
    step.warp_instructions = plan.launch.warps() * kernel.loops[1];
    set_traffic(step.issued, {2 * score_bytes() / parts, 2 * score_bytes() / parts});
    set_blocks(plan, {{dots}, {step, trips}});
    launches.push_back({std::move(plan)});
  }

  void forward() {
    const bool drops = passes == kMaskDropout;
    multiply(kNT, reads_activation(kQ, s.q_bytes()), kv_input(s, kK), scores(kS, kWrite));
    if (drops) pass(kPassInstructions, {scores(kS, kUpdate)});
    softmax();
    if (drops) {
      pass(kPassInstructions, {scores(kP, kRead), scores(kDropped, kWrite), kept(kWrite)});
    }
    multiply(kNN, scores(drops ? kDropped : kS, kRead), kv_input(s, kV), writes(kO, s.q_bytes()));
  }

  // With dropout, forward leaves P and the dropout mask. A mask added to S has no backward step.
  void backward() {
    const ArrayUse q = reads(kQ, s.q_bytes()), k = reads(kK, s.kv_bytes());
    const ArrayUse v = reads(kV, s.kv_bytes()), d_o = gradient_input(s);
    const ArrayUse dv = writes(kDV, s.kv_bytes());
    if (passes == kPlain) {
      multiply(kNT, q, k, scores(kS, kWrite));
      multiply(kNT, d_o, v, scores(kDP, kWrite));
      gradient();
      multiply(kTN, scores(kS, kRead), reads(kDO, s.q_bytes()), dv);
    } else {
      multiply(kTN, scores(kDropped, kRead), d_o, dv);
      multiply(kNT, d_o, v, scores(kDP, kWrite));
      pass(kPassInstructions, {scores(kDP, kUpdate), kept(kRead)});
      pass(kKeptInstructions, {scores(kP, kRead), scores(kDP, kUpdate)});
    }
    multiply(kNN, scores(kDP, kRead), k, writes(kDQ, s.q_bytes()));
    multiply(kTN, scores(kDP, kRead), q, writes(kDK, s.kv_bytes()));
  }
};

// Reads and writes of matrices of scores in 16 bits; the dropout mask counts as half a matrix.
double times_through_memory(bool backward, std::int64_t passes) {
  // S and P written and read. Backward: S and dP written and read, P and dS written, P read, dS
  // read twice.
  if (passes == kPlain) return backward ? 9 : 4;
  // S is written and read twice; P, and P after dropout, written and read once; the dropout mask
  // written. Backward: P after dropout is read; dP written and read twice, the dropout mask read; P
  // read; dS written once and read twice.
  return backward ? 9.5 : 8.5;
}

}  // namespace

IoComplexity standard_io(const Problem& p, double compulsory_bytes, double on_chip_bytes) {
  const Shape shape(p);
  const double scores = shape.all_scores() * times_through_memory(shape.backward, p[kPasses]);
  return {"Θ(Nd + N²)", compulsory_bytes + scores * shape.element, on_chip_bytes};
}

LaunchSequence plan_standard(const Problem& p, const Gpu& gpu) {
  Sequence sequence{p, gpu};
  sequence.s.backward ? sequence.backward() : sequence.forward();
  return std::move(sequence.launches);
}

}  // namespace roofcast::attention
