// The steps of tiles, and the classes of blocks that follow from them.
#include <algorithm>
#include <cmath>

#include "model/kernels/attention/blocks.hpp"

namespace roofcast::attention {
namespace {

// Of so many steps, which end at `end` or beyond it, the share of their rows before it.
double share_before(std::int64_t end, std::int64_t first_step, std::int64_t steps,
                    std::int64_t rows) {
  if (steps == 0) return 1;
  const std::int64_t there = std::min(end, (first_step + steps) * rows) - first_step * rows;
  return as_double(there) / as_double(steps * rows);
}

/// Tiles that count as equal.
struct Run {
  Steps each;
  std::int64_t tiles;

  void join(const Run& other) {
    const double n = as_double(tiles + other.tiles);
    const double own = as_double(tiles) / n, others = as_double(other.tiles) / n;
    const double there =
        own * each.all() * each.share + others * other.each.all() * other.each.share;
    each.full = own * each.full + others * other.each.full;
    each.masked = own * each.masked + others * other.each.masked;
    each.share = each.all() > 0 ? there / each.all() : 1;
    tiles += other.tiles;
  }
};

// At most so many, of neighbours' means where there would be more.
std::vector<Run> runs_of(const std::vector<Steps>& tiles, std::size_t most) {
  std::vector<Run> runs, fewer;
  for (const Steps& each : tiles) {
    if (runs.empty() || !(runs.back().each == each)) runs.push_back({each, 0});
    ++runs.back().tiles;
  }
  const std::size_t together = (runs.size() + most - 1) / most;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (i % together == 0) {
      fewer.push_back(runs[i]);
    } else {
      fewer.back().join(runs[i]);
    }
  }
  return fewer;
}

// The first parts of a tile have as many whole steps, one has the rest, and those after it have
// none: they write zeros. All parts of a tile whose queries see no key are such.
void add_parts(Plan& plan, const BlockSteps& blocks, std::int64_t tiles, const Steps& all,
               std::int64_t splits) {
  if (splits == 1) return plan.blocks.push_back(block_class(blocks, tiles, all));
  const double each = std::max(1.0, std::ceil(all.all() / as_double(splits)));
  const auto whole = static_cast<std::int64_t>(all.all() / each);
  const double rest = all.all() - as_double(whole) * each;
  const std::int64_t empty = splits - whole - (rest > 0 ? 1 : 0);
  if (whole > 0) plan.blocks.push_back(block_class(blocks, tiles * whole, {each, 0}));
  if (rest > 0) plan.blocks.push_back(block_class(blocks, tiles, {rest, 0}));
  if (empty > 0) plan.blocks.push_back(block_class(blocks, tiles * empty, {0, 0}));
}

}  // namespace

Steps steps_over_keys(const Shape& shape, std::int64_t first, std::int64_t last,
                      std::int64_t keys) {
  const std::int64_t seen = shape.visible(last);
  const std::int64_t all = ceil_div(seen, keys);
  const std::int64_t full = std::min(all, shape.visible(first) / keys);
  return {as_double(full), as_double(all - full), share_before(shape.seq_kv, 0, all, keys)};
}

Steps steps_over_queries(const Shape& shape, std::int64_t first, std::int64_t last,
                         std::int64_t queries) {
  const std::int64_t tiles = ceil_div(shape.seq_q, queries);
  std::int64_t begin = 0, unmasked = 0;
  if (shape.causal) {
    // The first query that sees a key, and so all of the keys before it.
    const auto seen_from = [&](std::int64_t key) {
      return std::clamp(key - shape.seq_kv + shape.seq_q, std::int64_t{0}, shape.seq_q);
    };
    begin = std::min(tiles, seen_from(first) / queries);
    unmasked = std::clamp(ceil_div(seen_from(last), queries), begin, tiles);
  }
  return {as_double(tiles - unmasked), as_double(unmasked - begin),
          share_before(shape.seq_q, begin, tiles - begin, queries)};
}

std::vector<Steps> steps_of_tiles(const Blocks& b) {
  std::vector<Steps> tiles;
  for (std::int64_t first = 0; first < b.rows(); first += b.rows_held()) {
    const std::int64_t end = std::min(b.rows(), first + b.rows_held());
    Steps steps = b.keys_stay ? steps_over_queries(b.shape, first, end - 1, b.tile.queries)
                              : steps_over_keys(b.shape, first / b.packed,
                                                ceil_div(end, b.packed) - 1, b.tile.keys);
    if (b.keys_stay) {
      steps.full *= as_double(b.packed);
      steps.masked *= as_double(b.packed);
    }
    if (b.kernel.by_boxes()) steps.share = 1;  // boxes are whole
    tiles.push_back(steps);
  }
  // A mask hides the first keys from fewest queries, and the last keys from most.
  if (!b.keys_stay && !b.tile.in_order) std::reverse(tiles.begin(), tiles.end());
  return tiles;
}

BlockClass block_class(const BlockSteps& blocks, std::int64_t count, const Steps& steps) {
  BlockClass result;
  result.count = count;
  result.phases.push_back({blocks.prologue});
  const auto add = [&](Step step, double repeats) {
    if (repeats <= 0) return;
    Work& issued = step.issued;
    for (Traffic* level : {&issued.requested, &issued.l1, &issued.l2})
      *level = steps.share * *level;
    result.phases.push_back(
        {step, repeats, blocks.ahead, blocks.groups, blocks.chains, blocks.waited_products});
  };
  add(blocks.full, steps.full);
  add(blocks.masked, steps.masked);
  result.phases.push_back({blocks.epilogue});
  return result;
}

void add_blocks(Plan& plan, const BlockSteps& blocks, const std::vector<Steps>& tiles,
                std::int64_t copies, std::int64_t together, std::int64_t splits) {
  constexpr std::int64_t kMostClasses = 32, kMostParties = 8;
  // Places fall idle behind the last parties alone: the ones before them count as one.
  std::int64_t parties = std::min(kMostParties, ceil_div(copies, together));
  const std::vector<Run> runs = runs_of(tiles, static_cast<std::size_t>(kMostClasses / parties));
  if (runs.size() == 1) parties = 1;
  const std::int64_t last = (copies - 1) % together + 1;
  for (std::int64_t left = copies; parties > 0; --parties) {
    const std::int64_t behind = parties > 1 ? (parties - 2) * together + last : 0;
    for (const Run& run : runs) {
      add_parts(plan, blocks, run.tiles * (left - behind), run.each, splits);
    }
    left = behind;
  }
}

}  // namespace roofcast::attention
