// What runs before and after the blocks of backward.
#include <algorithm>
#include <cmath>
#include <utility>

#include "model/kernels/attention/backward.hpp"
#include "model/kernels/common/plan_parts.hpp"

namespace roofcast::attention {
namespace {

constexpr std::int64_t kVectorElements = 8;  // 16 bytes

}  // namespace

Plan pass_over(double elements, double instructions, std::vector<ArrayUse> arrays, double waits) {
  constexpr std::int64_t kThreads = 256;
  Plan plan;
  // Beyond any grid: refused, but a number.
  constexpr double kMostBlocks = 1e18;
  plan.launch.grid[0] = static_cast<std::int64_t>(
      std::min(kMostBlocks, std::ceil(elements / as_double(kThreads * kVectorElements))));
  plan.launch.block[0] = kThreads;
  plan.launch.registers = 32;
  plan.arrays = std::move(arrays);
  Traffic sum;
  for (const ArrayUse& use : plan.arrays) sum += use.footprint;
  const double blocks = as_double(plan.launch.blocks());
  Step step;
  step.warp_instructions = elements / as_double(kVectorElements * 32) / blocks * instructions;
  step.waits.global = waits;
  set_traffic(step.issued, shared_by(sum, blocks));
  set_blocks(plan, {{step}});
  plan.notes.caveat = "registers are a guess";
  return plan;
}

ArrayUse gradient_input(const Shape& shape) {
  ArrayUse use = reads_activation(kDO, shape.q_bytes());
  use.input = static_cast<std::size_t>(kDO);
  return use;
}

Plan row_dots(const Backward& c) {
  const Shape& s = c.shape;
  std::vector<ArrayUse> arrays = {reads(kO, s.q_bytes()), gradient_input(s),
                                  reads(kLse, s.rows_bytes()),
                                  scratch(kRowDots, {0, c.row_number_bytes()})};
  if (c.dq == kAtomic) arrays.push_back(scratch(kDqSums, {0, c.dq_sum_bytes()}));
  // Of two vectors of eight: multiply-adds, conversions, five exchanges and sums.
  const double threads = as_double(c.query_heads()) * as_double(c.rows.rows * c.rows.lanes);
  Plan plan = pass_over(threads * kVectorElements, c.rows.dots_instructions, std::move(arrays),
                        c.rows.waits);
  plan.launch.registers = c.rows.dots_registers;
  plan.useful.vector_flops = 2 * s.q_bytes() / s.element;
  plan.blocks.front().phases.front().step.waits.shared = 5;
  return plan;
}

// dQ from fp32 to the problem's type.
Plan round_dq(const Backward& c) {
  const double sums = c.dq_sum_bytes();
  Plan plan =
      pass_over(sums / kSumElement, c.rows.round_instructions,
                {scratch(kDqSums, {sums, 0}), writes(kDQ, c.shape.q_bytes())}, c.rows.waits);
  plan.launch.registers = c.rows.round_registers;
  plan.useful.conversions = c.shape.q_bytes() / c.shape.element / 2;
  return plan;
}

// dK or dV of a group from those of its query heads.
Plan sum_over_group(const Backward& c, ArrayId of_heads, ArrayId result) {
  constexpr double kInstructionsOfVector = 16;
  const Shape& shape = c.shape;
  Plan plan =
      pass_over(shape.kv_bytes() / shape.element, kInstructionsOfVector * as_double(shape.group()),
                {scratch(of_heads, {c.head_kv_bytes(), 0}), writes(result, shape.kv_bytes())},
                c.rows.group_waits);
  plan.useful.vector_flops = c.head_kv_bytes() / shape.element;
  return plan;
}

}  // namespace roofcast::attention
