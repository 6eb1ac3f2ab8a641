// attention.decode: few queries against a long cache of keys.
#include <algorithm>
#include <string>
#include <utility>

#include "model/kernels/attention_blocks.hpp"
#include "model/kernels/attention_models.hpp"
#include "model/kernels/plan_parts.hpp"

namespace roofcast::attention {
namespace {

// By the plan of the kernel: warps take keys of their own, and all rows of their heads.
constexpr std::int64_t kWarps = 4, kKeys = 64, kStages = 3, kBlocksPerSm = 2;
constexpr std::int64_t kMostRows = 64;
// Counted as for attention.flash2.
constexpr Kernel kKernel = {Instruction::mma_sync, 4.5, 0.5, 2};

Shape checked_shape(const Problem& p, const Gpu& gpu) {
  const Shape shape(p);
  check_computable(p, shape, gpu);
  if (shape.backward) {
    throw InputError("attention.decode is forward only: leave out --pass");
  }
  const std::int64_t rows = shape.seq_q * shape.group();
  if (rows > kMostRows) {
    throw InputError(std::to_string(rows) +
                     " queries of a group of heads: attention.decode takes up to " +
                     std::to_string(kMostRows) + ", use attention.flash2 or attention.flash3");
  }
  return shape;
}

Forward forward_of(const Shape& shape, std::int64_t splits) {
  constexpr std::int64_t kRowsOfProduct = 16;
  const std::int64_t rows = ceil_div(shape.seq_q * shape.group(), kRowsOfProduct) * kRowsOfProduct;
  return {.shape = shape,
          .kernel = kKernel,
          .tile = {.queries = rows,
                   .keys = kKeys,
                   .warps = kWarps,
                   .rows_per_warp = rows,
                   .stages = kStages,
                   .blocks_per_sm = kBlocksPerSm},
          .packed = shape.group(),
          .splits = splits,
          .writes_lse = true};
}

// Steps of one block, shared out evenly among the parts.
std::int64_t steps_of(const Forward& c) {
  return static_cast<std::int64_t>(c.steps(0).all());
}

Plan main_launch(const Forward& c, DType type) {
  const Shape& s = c.shape;
  Plan plan;
  plan.copies_ahead = true;
  plan.needs = {Instruction::mma_sync, Instruction::cp_async};
  plan.useful.tensor_flops[type] = s.flops();
  plan.useful.special_flops = s.scores();
  const auto kv = s.seq_q == s.seq_kv ? reads_activation : reads;
  plan.arrays = {reads_activation(kQ, s.q_bytes()), kv(kK, s.kv_bytes()), kv(kV, s.kv_bytes())};
  if (c.splits > 1) {
    plan.arrays.push_back(scratch(kParts, {0, c.part_bytes()}));
  } else {
    plan.arrays.push_back(writes(kO, s.q_bytes()));
    plan.arrays.push_back(writes(kLse, s.rows_bytes()));
  }
  plan.launch.grid[0] = c.blocks();
  plan.launch.block[0] = kWarps * 32;
  const auto row = static_cast<std::int64_t>(c.head() * s.element);
  plan.launch.shared_bytes = (c.tile.queries + 2 * kStages * kKeys) * row;
  plan.launch.registers = registers_left(kWarps * 32, kBlocksPerSm);
  plan.on_chip_bytes =
      as_double(c.tile.queries) * c.head() * kSumElement + as_double(plan.launch.shared_bytes);
  // A split leaves some blocks a step more than others.
  const std::int64_t steps = steps_of(c), longer = steps % c.splits;
  const Steps all = c.steps(0);
  const BlockSteps blocks = forward_blocks(c, type);
  const auto add = [&](std::int64_t parts, std::int64_t each) {
    if (parts == 0) return;
    const double share = as_double(each) / as_double(steps);
    const Steps part{all.full * share, all.masked * share, all.full_share, all.masked_share};
    plan.blocks.push_back(block_class(blocks, parts * c.copies(), part));
  };
  add(longer, steps / c.splits + 1);
  add(c.splits - longer, steps / c.splits);
  plan.caveat = kUnmeasured;
  return plan;
}

}  // namespace

std::vector<Problem> decode_candidates(const Problem& p, const Gpu& gpu) {
  if (p[kDecodeSplits] != kToChoose) return {p};
  const Forward c = forward_of(checked_shape(p, gpu), 1);
  const std::int64_t slots = gpu.slots(kBlocksPerSm);
  std::vector<Problem> found;
  for (const std::int64_t splits : {1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128}) {
    if (splits > 1 && (splits > steps_of(c) || c.blocks() * (splits - 1) >= 2 * slots)) break;
    found.push_back(p);
    found.back()[kDecodeSplits] = splits;
  }
  return found;
}

Program plan_decode(const Problem& p, const Gpu& gpu) {
  const Shape shape = checked_shape(p, gpu);
  const std::int64_t steps = steps_of(forward_of(shape, 1));
  if (p[kDecodeSplits] < 1 || p[kDecodeSplits] > steps) {
    throw InputError("splits is " + std::to_string(p[kDecodeSplits]) +
                     ": give 1 to the steps of the keys, " + std::to_string(steps));
  }
  const Forward c = forward_of(shape, p[kDecodeSplits]);
  Program program = launch_of(main_launch(c, p.dtype));
  if (c.splits > 1) program.push_back({sum_of_parts(c)});
  return program;
}

}  // namespace roofcast::attention
