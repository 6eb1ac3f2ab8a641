#include "model/kernels/reduce/reduce.hpp"

#include <algorithm>

#include "model/counting/coalescing.hpp"
#include "model/kernels/common/plan_parts.hpp"

namespace roofcast::reduce {
namespace {

enum : ArrayId { kX, kWeights, kPartials, kSums };

// validation/sweeps/rows.json.
constexpr std::array kValidated = {ValidatedRange{rows::kRows, 1, std::int64_t{1} << 20},
                                   ValidatedRange{rows::kCols, 128, std::int64_t{1} << 28}};

// Instructions of a warp that merge the sums of a row's warps, by the counters.
constexpr double kInstructionsOfRowMerge = 22;

// The accesses that a thread issues before it adds the first.
struct Batch {
  std::int64_t accesses;  // to each row
  // Accesses before the thread waits for one, since later ones share its scoreboard; 0: no wait.
  std::int64_t before_wait;
};
Batch batch_of(bool weighted, bool ragged, bool narrow) {
  if (!weighted) return {kBatch, narrow ? 0 : 2};
  if (!ragged) return {kBatch / kWeightedRows, 0};
  return {kSingleBatch, 3};
}
constexpr double kDependentOfBatch = 20;

// The problem as rows to sum up: one row where all elements are summed.
Problem rows_of(Kind kind, Problem p) {
  if (kind != Kind::global) return p;
  p[rows::kCols] *= p[rows::kRows];
  p[rows::kRows] = 1;
  return p;
}

// Chunks of a row to try: 1, and the five largest powers of two for which a chunk has at least
// kLeastChunkBytes and the second launch can add up all chunks.
rows::Values splits(std::int64_t groups, std::int64_t group_bytes) {
  constexpr std::int64_t kLeastChunkBytes = 2048;
  rows::Values values = {1};
  const std::int64_t most = std::min(group_bytes / kLeastChunkBytes, kMostChunks / groups);
  const std::int64_t largest = rows::powers_of_two(1, most).back();
  for (std::int64_t split = largest; split > 1 && split > largest / 32; split /= 2) {
    values.push_back(split);
  }
  return values;
}

// Each split, with as many threads as read a chunk in one batch, and with a quarter of them.
template <Kind kKind>
std::vector<Problem> candidates(const Problem& p, const Gpu& /*gpu*/) {
  constexpr std::int64_t kInGroup = rows_a_group(kKind);
  const Problem shape = rows_of(kKind, p);
  const std::int64_t element = element_bytes(p.dtype), cols = shape[rows::kCols];
  const auto chunks = [&](const Problem&) {
    return splits(ceil_div(shape[rows::kRows], kInGroup), kInGroup * cols * element);
  };
  const auto threads = [&](const Problem& one) -> rows::Values {
    const std::int64_t vectors =
        chunk_elements(cols, element, one[kSplit]) * element / rows::kVectorBytes;
    const std::int64_t batched = std::clamp(power_of_two_from(ceil_div(vectors * kInGroup, kBatch)),
                                            rows::kWarp, kMostThreads);
    if (batched == rows::kWarp) return {batched};
    return {batched, std::max(rows::kWarp, batched / 4)};
  };
  return rows::with_each(rows::with_each({p}, kSplit, chunks), kThreads, threads);
}

// Mean round trips to memory of a batch: one, or two where some accesses are issued only when an
// earlier one has returned; the last batch of a chunk may take one.
double rounds_of(const Batch& batch, std::int64_t units, std::int64_t threads) {
  if (batch.before_wait == 0) return 1;
  const std::int64_t full = units / (batch.accesses * threads);
  const std::int64_t left = units - full * batch.accesses * threads;
  const std::int64_t of_last = left == 0 ? 0 : left > batch.before_wait * threads ? 2 : 1;
  return as_double(2 * full + of_last) / as_double(full + (left > 0 ? 1 : 0));
}

// The first launch: the sum of each chunk of each row.
Plan plan_sums(bool weighted, const Problem& p, const Layout& layout) {
  const rows::Matrix x = rows::matrix_of(p, {});
  const compiled::Kernel kernel =
      weighted ? compiled::kernel("reduce::weighted_kernel", p.dtype, !x.ragged)
               : compiled::kernel("reduce::sum_kernel", p.dtype);
  Plan plan = launch_plan(layout.blocks(p[rows::kRows]), {layout.threads, layout.groups_a_block, 1},
                          kernel.registers, layout.rows_a_group * kMostThreads / rows::kWarp * 4);

  const double flops = weighted ? 2 : 1;  // of an element
  const double weights = weighted ? x.row_bytes : 0;
  const double groups = as_double(ceil_div(p[rows::kRows], layout.rows_a_group));
  plan.useful.vector_flops = x.elements * flops;
  plan.arrays = {reads_activation(kX, x.bytes)};
  if (weighted) {
    plan.arrays.push_back(reads(kWeights, weights));
    // Between two uses of a weight an SM reads the rows of one group.
    plan.reuse = {{.scope = Scope::sm,
                   .bytes = groups * weights,
                   .distinct_bytes = weights,
                   .distance_bytes = (1 + as_double(kWeightedRows)) * weights}};
  }
  const bool split = layout.split > 1;
  const double sums = as_double(p[rows::kRows] * layout.split);
  const double written = sums * (split ? 4 : as_double(element_bytes(p.dtype)));
  plan.arrays.push_back(split ? scratch(kPartials, {0, written}) : writes(kSums, written));
  const double stores = sums * kSectorBytes;  // bytes: one lane stores a sum, a sector each
  if (stores > 2 * written) {
    plan.notes.traffic_reasons.push_back(
        {Level::l1, "one sum a store: a sector moved for one element"});
  }

  const double blocks = as_double(plan.launch.blocks());
  const double warps = as_double(layout.threads * layout.groups_a_block / rows::kWarp);
  // Four rows that do not all begin at 16-byte boundaries are read by single elements.
  const std::int64_t width = weighted && x.ragged ? 1 : rows::kVectorBytes / element_bytes(p.dtype);
  const std::int64_t chunk = chunk_elements(p[rows::kCols], element_bytes(p.dtype), layout.split);
  const std::int64_t units = ceil_div(std::min(chunk, p[rows::kCols]), width);
  const Batch batch = batch_of(weighted, x.ragged, rows::has_16_bits(p));
  const std::int64_t batches = ceil_div(units, batch.accesses * layout.threads);
  const double steps = blocks * as_double(batches);
  Step load;
  load.issued.vector_flops = warps * as_double(batch.accesses * layout.rows_a_group) * rows::kWarp *
                             as_double(width) * flops;
  load.issued.requested = Traffic{x.bytes + groups * weights, 0} / steps;
  load.issued.l1 = Traffic{x.accessed + groups * weights, 0} / steps;
  load.issued.l2 = Traffic{x.distinct + groups * weights, 0} / steps;
  load.warp_instructions = warps * kernel.loops[0];
  load.wavefronts.l1 = load.wavefronts.l1_lookups = load.issued.l1.read_bytes / kLineBytes;
  load.waits = {.global = rounds_of(batch, units, layout.threads), .arithmetic = kDependentOfBatch};

  const bool alone = layout.threads == rows::kWarp;  // one warp per chunk: no barrier
  Step merge;
  merge.issued.requested.write_bytes = written / blocks;
  merge.issued.l1.write_bytes = merge.issued.l2.write_bytes = stores / blocks;
  merge.warp_instructions =
      warps * (kernel.straight + rows::kInstructionsOfEnds +
               (alone ? 0 : kInstructionsOfRowMerge * as_double(layout.rows_a_group)));
  // Waits after the last load; those before the first access are part of Sustained::first_access_s.
  merge.waits = {
      .shared = alone ? 5.0 : 10, .arithmetic = alone ? 40.0 : 73, .barriers = alone ? 0.0 : 1};
  // 16-bit elements before the first vector are widened, and so waited for, before the first batch.
  if (!weighted && x.ragged && x.rows > 1 && rows::has_16_bits(p)) merge.waits.global = 1;
  set_blocks(plan, {{load, as_double(batches)}, {merge}});
  return plan;
}

// The second launch, which adds the chunks' sums.
Plan plan_finish(const Problem& p, const Layout& layout) {
  const rows::Layout finish = finish_layout(layout);
  const compiled::Kernel kernel = compiled::kernel("reduce::finish_kernel", p.dtype);
  Plan plan = launch_plan(finish.blocks(p[rows::kRows]), {finish.threads, finish.rows_per_block, 1},
                          kernel.registers, rows::kMaxThreads / rows::kWarp * 4);
  const double partials = as_double(p[rows::kRows] * layout.split) * 4;
  const double out = as_double(p[rows::kRows] * element_bytes(p.dtype));
  plan.arrays = {scratch(kPartials, {partials, 0}), writes(kSums, out)};
  constexpr std::int64_t kTogether = rows::PartialSums::kTogether;
  const std::int64_t loads = ceil_div(layout.split, finish.threads);
  const double trips = as_double(loads / kTogether + loads % kTogether);
  rows::set_partial_sums(plan, kernel, {loads, trips}, p.dtype);
  return plan;
}

template <Kind kKind>
LaunchSequence plan(const Problem& given, const Gpu& /*gpu*/) {
  rows::check_chosen({given[kSplit], given[kThreads]});
  require(is_power_of_two(given[kThreads]) && given[kThreads] >= rows::kWarp, "threads is ",
          given[kThreads], ": give 32, 64, 128 or 256, or 0 for the fastest");
  const Problem p = rows_of(kKind, given);
  const Layout layout = layout_of(kKind, p);
  LaunchSequence sequence = launch_of(plan_sums(kKind == Kind::weighted, p, layout));
  if (layout.split > 1) sequence.push_back({plan_finish(p, layout)});
  return sequence;
}

constexpr std::array kParameters = with_own(
    rows::kShape, open_setting("split", "blocks that share a row; 0: the fastest", kMostChunks),
    open_setting("threads", "of a chunk of a row: 32, 64, 128, 256; 0: the fastest", kMostThreads));

template <Kind kKind>
constexpr KernelModel variant(std::string_view name, std::string_view summary) {
  return {name, summary, kParameters, rows::kTypes, plan<kKind>, candidates<kKind>};
}
constexpr std::array kVariants = {
    variant<Kind::row>("reduce.row", "y[r] = Σ x[r,c]: a warp or a block a row, long rows split"),
    variant<Kind::weighted>("reduce.weighted",
                            "y[r] = Σ w[c]·x[r,c]: four rows share each weight loaded"),
    variant<Kind::global>("reduce.global",
                          "y = Σ x: a block a chunk, then a block for all chunks")};

}  // namespace

constinit const KernelFamily kFamily = {
    "reduce", "sums over rows, or over all", kParameters, rows::kTypes, kVariants, kValidated};

}  // namespace roofcast::reduce
