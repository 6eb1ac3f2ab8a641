#include "model/kernels/attention/blocks.hpp"

#include <algorithm>
#include <utility>

#include "model/counting/coalescing.hpp"

namespace roofcast::attention {

ArrayUse kv_input(const Shape& shape, ArrayId array) {
  const auto use = shape.seq_q == shape.seq_kv ? reads_activation : reads;
  return use(array, shape.kv_bytes());
}

BlockSteps forward_steps(const Blocks& c) {
  BlockSteps steps = block_steps(c);
  if (!c.kernel.on_tensor_cores()) return steps;
  // K and V are written to shared memory once. Each warp of mma.sync reads them whole; warps that
  // divide the keys read them once together. wgmma and tcgen05 read them, and Q, for each 64 rows.
  const bool async = c.kernel.async_mma();
  const double queries = as_double(c.tile.queries);
  const double readers = async ? queries / 64 : c.tile.deals_keys ? 1 : as_double(c.tile.warps);
  const double kv_bytes = 2 * as_double(c.tile.keys) * c.shape.row_bytes();
  Step& step = steps.loop.step;
  step.issued.shared_bytes = (readers + 1) * kv_bytes + (async ? queries * c.shape.row_bytes() : 0);
  if (!async) step.wavefronts.shared = step.issued.shared_bytes / 128;
  return steps;
}

Plan forward_plan(const Blocks& c, const Gpu& gpu) {
  const Shape& s = c.shape;
  Plan plan = plan_of(c);
  if (is_persistent(plan.scheduler)) {
    plan.launch.grid[0] = std::min(plan.launch.grid[0], gpu.slots(c.tile.blocks_per_sm));
  }
  plan.arrays = {reads_activation(kQ, s.q_bytes()), kv_input(s, kK), kv_input(s, kV)};
  if (c.splits > 1) {
    plan.arrays.push_back(scratch(kParts, {c.tile.merges ? c.part_bytes() : 0, c.part_bytes()}));
    if (!c.tile.merges) return plan;
  }
  plan.arrays.push_back(writes(kO, s.q_bytes()));
  if (c.writes_lse) plan.arrays.push_back(writes(kLse, s.rows_bytes()));
  return plan;
}

BlockSteps with_merging(BlockSteps steps, const Blocks& c) {
  Step& end = steps.epilogue;
  // Four dependent round trips: store of the part, the counter, scale factors, parts.
  end.waits.global = 4;
  set_traffic(end.issued, {c.part_bytes() / as_double(c.heads()), end.issued.l2.write_bytes});
  return steps;
}

void deal_keys(Plan& plan, const Blocks& c, const BlockSteps& steps, std::int64_t unit) {
  const std::int64_t units = std::max(c.splits, ceil_div(c.shape.seq_kv, unit));
  const std::int64_t most = ceil_div(units, c.splits);
  const std::int64_t with_most = units - c.splits * (most - 1);
  const std::int64_t merging = c.tile.merges && c.splits > 1 ? 1 : 0;
  const double share = as_double(c.shape.seq_kv) / as_double(units * unit);
  const auto add = [&](const BlockSteps& some, std::int64_t parts, std::int64_t some_units) {
    add_class(plan, some, c.heads() * parts,
              {as_double(some_units * unit) / as_double(c.tile.keys), 0, share});
  };
  add(steps, with_most - merging, most);
  add(steps, c.splits - with_most, most - 1);
  add(with_merging(steps, c), merging, most);
}

Plan cleared_counter() {
  Plan plan = launch_plan(1, {32, 1, 1}, 16);
  Step step;
  set_traffic(step.issued, {0, kSectorBytes});
  set_blocks(plan, {{step}});
  return plan;
}

Plan sum_of_parts(const Blocks& c) {
  const PartSums& sums = c.sums;
  const std::int64_t warps = std::max(sums.warps_of_row, std::int64_t{4});
  const std::int64_t rows = c.shape.batch * c.shape.heads * c.shape.seq_q;
  const std::int64_t blocks = ceil_div(rows, warps / sums.warps_of_row);
  const double outputs = as_double(rows * c.shape.head_dim), splits = as_double(c.splits);
  Step step;
  step.issued.vector_flops = outputs * splits * 2 / as_double(blocks);
  step.issued.special_flops = as_double(rows) * splits / as_double(blocks);
  step.warp_instructions = outputs / as_double(blocks) / 32 * (splits * 1.5 + 4);
  // Round trips: the log-sum-exps, then the parts. Warps of a row add up through shared memory.
  step.waits.global = 1 + as_double(ceil_div(c.splits, sums.parts_at_once));
  if (sums.warps_of_row > 1) {
    step.waits.barriers = 1;
    step.waits.shared = as_double(sums.warps_of_row);
  }
  std::vector<ArrayUse> arrays = {scratch(kParts, {c.part_bytes(), 0}),
                                  writes(kO, c.shape.q_bytes())};
  if (c.writes_lse) arrays.push_back(writes(kLse, c.shape.rows_bytes()));
  Plan plan = even_launch(blocks, 32 * warps, std::move(arrays), step);
  plan.launch.registers = 40;
  plan.useful.vector_flops = outputs * splits * 2;
  plan.useful.special_flops = as_double(rows) * splits;
  return plan;
}

}  // namespace roofcast::attention
