#include "model/kernels/reduce/reduce.hpp"

#include <algorithm>
#include <string>

#include "model/counting/coalescing.hpp"
#include "model/kernels/common/plan_parts.hpp"
#include "model/kernels/compiled.hpp"
#include "model/kernels/reduce/counts.hpp"

namespace roofcast::reduce {
namespace {

enum class Kind : unsigned char { row, weighted, global };

constexpr std::array kTypes = {DType::fp32, DType::fp16, DType::bf16};

// validation/sweeps/rows.json.
constexpr std::array kValidated = {ValidatedRange{rows::kRows, 1, std::int64_t{1} << 20},
                                   ValidatedRange{rows::kCols, 128, std::int64_t{1} << 28}};

struct Shape {
  std::int64_t rows, cols;
  Layout layout;
};

Shape shape_of(Kind kind, const Problem& p) {
  switch (kind) {
    case Kind::weighted:
      return {p[rows::kRows], p[rows::kCols], layout_of(p, kWeightedRows)};
    case Kind::global:
      return {1, p[rows::kRows] * p[rows::kCols], layout_of(p, 1)};
    default:
      return {p[rows::kRows], p[rows::kCols], layout_of(p, 1)};
  }
}

// Chunks of a row: none, or the five largest powers of two that leave chunks of some size and no
// more of them than the second launch can add up.
std::vector<std::int64_t> splits(std::int64_t given, std::int64_t groups,
                                 std::int64_t group_bytes) {
  constexpr std::int64_t kLeastChunkBytes = 2048;
  if (given != 0) return {given};
  std::vector<std::int64_t> values = {1};
  const std::int64_t most = std::min(group_bytes / kLeastChunkBytes, kMostChunks / groups);
  std::int64_t largest = 1;
  while (2 * largest <= most) largest *= 2;
  for (std::int64_t split = largest; split > 1 && split > largest / 32; split /= 2) {
    values.push_back(split);
  }
  return values;
}

// Mean number of pieces of `unit` bytes that 32 neighbouring elements touch, over rows.
double mean_units(const Shape& shape, std::int64_t element_bytes, std::int64_t unit) {
  const std::int64_t rows = std::min(shape.rows, kLineBytes / element_bytes);  // offsets repeat
  std::int64_t units = 0;
  for (std::int64_t row = 0; row < rows; ++row) {
    const WarpAccess run{.stride_bytes = element_bytes,
                         .access_bytes = element_bytes,
                         .offset_bytes = row * shape.cols * element_bytes % kLineBytes};
    units += distinct_units(run, unit);
  }
  return as_double(units) / as_double(rows);
}

// As many threads as hold a chunk in one batch of accesses, or a quarter of them.
template <Kind kKind>
std::vector<Problem> candidates(const Problem& p, const Gpu& /*gpu*/) {
  Problem one = p;
  one[kSplit] = 1;
  const Shape shape = shape_of(kKind, one);
  const std::int64_t in_group = shape.layout.rows_a_group;
  const std::int64_t width = rows::kVectorBytes / element_bytes(p);
  std::vector<Problem> found;
  for (const std::int64_t split : splits(p[kSplit], rows::ceil_div(shape.rows, in_group),
                                         in_group * shape.cols * element_bytes(p))) {
    const std::int64_t vectors = chunk_elements(shape.cols, element_bytes(p), split) / width;
    const std::int64_t batched =
        std::clamp(rows::power_of_two_from(rows::ceil_div(vectors * in_group, kBatch)), rows::kWarp,
                   kMostThreads);
    one[kSplit] = split;
    const std::int64_t quarter = std::max(rows::kWarp, batched / 4);
    std::vector<std::int64_t> threads = {p[kThreads] != 0 ? p[kThreads] : batched};
    if (p[kThreads] == 0 && quarter < batched) threads.push_back(quarter);
    for (const std::int64_t tried : threads) {
      one[kThreads] = tried;
      found.push_back(one);
    }
  }
  return found;
}

enum : ArrayId { kX, kWeights, kPartials, kSums };

// Round trips to memory of a batch, on average: one, or two where it has accesses that are issued
// only when an earlier one has returned. The last batch of a chunk is seldom full.
double rounds_of(const Batch& batch, std::int64_t units, std::int64_t units_a_batch,
                 std::int64_t threads) {
  if (batch.before_wait == 0) return 1;
  const std::int64_t full = units / units_a_batch;
  const std::int64_t left = units - full * units_a_batch;
  const std::int64_t of_last = left == 0 ? 0 : left > batch.before_wait * threads ? 2 : 1;
  return as_double(2 * full + of_last) / as_double(full + (left > 0 ? 1 : 0));
}

Plan plan_sums(Kind kind, const Problem& p) {
  const Shape shape = shape_of(kind, p);
  const Layout& layout = shape.layout;
  const bool weighted = kind == Kind::weighted;
  const std::int64_t row_bytes = shape.cols * element_bytes(p);
  const bool ragged = row_bytes % rows::kVectorBytes != 0;
  Plan plan;
  plan.launch.grid[0] = layout.blocks(shape.rows);
  plan.launch.block = {layout.threads, layout.groups_a_block, 1};
  plan.launch.registers = weighted
                              ? compiled::registers("reduce::weighted_kernel", p.dtype, !ragged)
                              : compiled::registers("reduce::sum_kernel", p.dtype);
  plan.launch.shared_bytes = layout.rows_a_group * kMostThreads / rows::kWarp * 4;

  const double elements = as_double(shape.rows) * as_double(shape.cols);
  const double bytes = elements * as_double(element_bytes(p));
  const double weights = weighted ? as_double(row_bytes) : 0;
  const double groups = as_double(rows::ceil_div(shape.rows, layout.rows_a_group));
  plan.useful.vector_flops = elements * (weighted ? 2 : 1);
  plan.arrays = {reads_activation(kX, bytes)};
  if (weighted) plan.arrays.push_back(reads(kWeights, weights));
  const bool split = layout.split > 1;
  const double sums = as_double(shape.rows * layout.split);
  const double written = split ? sums * 4 : sums * as_double(element_bytes(p));
  plan.arrays.push_back(split ? scratch(kPartials, {0, written}) : writes(kSums, written));
  // Between two uses of a weight an SM reads its group's rows.
  if (weighted) {
    plan.reuse = {{.scope = Scope::sm,
                   .bytes = groups * weights,
                   .distinct_bytes = weights,
                   .distance_bytes = (1 + as_double(kWeightedRows)) * weights}};
  }
  const double stores = sums * kSectorBytes;  // one lane of a block, a sector each time
  if (stores > 2 * written) {
    plan.notes.traffic_reasons.push_back(
        {Level::l1, "one sum a store: a sector moved for one element"});
  }

  const double blocks = as_double(plan.launch.blocks());
  const double warps = as_double(layout.threads * layout.groups_a_block / rows::kWarp);
  // Four rows that do not all begin on a 16-byte boundary go by single elements.
  const bool single = weighted && ragged;
  const std::int64_t width = single ? 1 : rows::kVectorBytes / element_bytes(p);
  const std::int64_t chunk = chunk_elements(shape.cols, element_bytes(p), layout.split);
  const std::int64_t units = rows::ceil_div(std::min(chunk, shape.cols), width);
  // Accesses of a row that a thread issues before it adds the first.
  const std::int64_t batch = !weighted ? kBatch : single ? kSingleBatch : kBatch / kWeightedRows;
  const std::int64_t batches =
      std::max<std::int64_t>(1, rows::ceil_div(units, batch * layout.threads));
  const double accesses = warps * as_double(batch * layout.rows_a_group);  // of x, a step
  // Beyond the last row the last one is read again.
  const double read_again = groups * as_double(layout.rows_a_group) / as_double(shape.rows);
  const rows::Sectors sectors =
      rows::sectors_of(shape.rows, shape.cols, element_bytes(p), {.cluster = layout.split});
  const double runs = elements / as_double(rows::kWarp);
  const double accessed =
      single ? runs * mean_units(shape, element_bytes(p), kSectorBytes) : sectors.accessed;
  const Batch code = batch_of(weighted, ragged, element_bytes(p) == 2);
  Step load;
  load.issued.vector_flops = accesses * rows::kWarp * as_double(width) * (weighted ? 2 : 1);
  const double steps = blocks * as_double(batches);
  load.issued.requested = shared_by({bytes * read_again + groups * weights, 0}, steps);
  load.issued.l1 = shared_by({accessed * read_again * kSectorBytes + groups * weights, 0}, steps);
  load.issued.l2 = shared_by({sectors.distinct * kSectorBytes + groups * weights, 0}, steps);
  load.warp_instructions = warps * code.code.instructions;
  load.wavefronts.l1 = load.issued.l1.read_bytes / as_double(kLineBytes);
  if (single) {  // an access takes as many wavefronts as it touches lines
    const double lines = runs * mean_units(shape, element_bytes(p), kLineBytes);
    load.wavefronts.l1 =
        (lines * read_again + groups * as_double(shape.cols) / as_double(rows::kWarp)) / steps;
  }
  load.wavefronts.l1_lookups = load.wavefronts.l1;
  load.waits = {.global = rounds_of(code, units, batch * layout.threads, layout.threads),
                .arithmetic = code.code.dependent};

  const bool alone = layout.threads == rows::kWarp;
  const Code ends = ends_of(weighted, alone);
  Step merge;
  merge.issued.requested = shared_by({0, written}, blocks);
  merge.issued.l1 = merge.issued.l2 = shared_by({0, stores}, blocks);
  merge.warp_instructions = warps * ends.instructions;
  merge.wavefronts.shared = alone ? 0 : 2 * warps * as_double(layout.rows_a_group);
  merge.issued.shared_bytes = merge.wavefronts.shared * as_double(kLineBytes);
  merge.waits = {
      .shared = ends.shared, .arithmetic = ends.dependent, .barriers = alone ? 0.0 : 1.0};
  // Narrow elements before the first vector are widened, so waited for, before the first batch.
  if (!weighted && ragged && shape.rows > 1 && element_bytes(p) == 2) merge.waits.global = 1;
  set_blocks(plan, {{load, as_double(batches)}, {merge}});
  return plan;
}

// Adds the chunks' sums.
Plan plan_finish(Kind kind, const Problem& p) {
  const Shape shape = shape_of(kind, p);
  const Finish finish = finish_layout(shape.layout);
  const double partials = as_double(shape.rows * shape.layout.split) * 4;
  const double out = as_double(shape.rows * element_bytes(p));
  Plan plan;
  plan.launch.grid[0] = rows::ceil_div(shape.rows, finish.rows_a_block);
  plan.launch.block = {finish.threads, finish.rows_a_block, 1};
  plan.launch.registers = compiled::registers("reduce::finish_kernel", p.dtype);
  plan.start = Start::cold_code;
  plan.launch.shared_bytes = rows::kMaxThreads / rows::kWarp * 4;
  plan.useful.vector_flops = partials / 4;
  plan.arrays = {scratch(kPartials, {partials, 0}), writes(kSums, out)};
  const double blocks = as_double(plan.launch.blocks());
  const std::int64_t loads = rows::ceil_div(shape.layout.split, finish.threads);
  const double eights = as_double(loads / kFinishUnrolled);
  const double ones = as_double(loads % kFinishUnrolled);  // one after the other
  const double warps = as_double(finish.threads * finish.rows_a_block / rows::kWarp);
  const bool alone = finish.threads == rows::kWarp;
  const Code ends = finish_ends(alone);
  Step step;
  step.issued.vector_flops = as_double(loads) * warps * rows::kWarp;
  step.issued.requested = shared_by({partials, out}, blocks);
  step.issued.l1 = step.issued.l2 =
      shared_by({partials, as_double(shape.rows) * kSectorBytes}, blocks);
  step.warp_instructions = warps * (ends.instructions + eights * kFinishEight.instructions +
                                    ones * kFinishOne.instructions);
  step.wavefronts.l1 = step.wavefronts.l1_lookups = warps * as_double(loads);
  step.waits = {
      .global = eights + ones,
      .shared = ends.shared,
      .arithmetic = ends.dependent + eights * kFinishEight.dependent + ones * kFinishOne.dependent,
      .barriers = alone ? 0.0 : 1.0};
  set_blocks(plan, {{step}});
  return plan;
}

template <Kind kKind>
LaunchSequence plan(const Problem& p, const Gpu& /*gpu*/) {
  rows::check_chosen({p[kSplit], p[kThreads]});
  if (rows::power_of_two_from(p[kThreads]) != p[kThreads] || p[kThreads] < rows::kWarp) {
    throw InputError("threads is " + std::to_string(p[kThreads]) +
                     ": give 32, 64, 128 or 256, or 0 for the fastest");
  }
  LaunchSequence program = launch_of(plan_sums(kKind, p));
  if (shape_of(kKind, p).layout.split > 1) program.push_back({plan_finish(kKind, p)});
  return program;
}

constexpr std::array kParameters = with_own(
    rows::kShape, setting("split", "blocks that share a row; 0: the fastest", 0, kMostChunks, 0),
    setting("threads", "of a chunk of a row: 32, 64, 128, 256; 0: the fastest", 0, kMostThreads,
            0));

constexpr std::array<KernelModel, 3> kVariants = {{
    {"reduce.row",
     "y[r] = Σ x[r,c]: a warp or a block a row, long rows split",
     kParameters,
     kTypes,
     plan<Kind::row>,
     {},
     candidates<Kind::row>},
    {"reduce.weighted",
     "y[r] = Σ w[c]·x[r,c]: four rows share each weight loaded",
     kParameters,
     kTypes,
     plan<Kind::weighted>,
     {},
     candidates<Kind::weighted>},
    {"reduce.global",
     "y = Σ x: a block a chunk, then a block for all chunks",
     kParameters,
     kTypes,
     plan<Kind::global>,
     {},
     candidates<Kind::global>},
}};

}  // namespace

constinit const KernelFamily kFamily = {
    "reduce",  "sums over rows, or over all", kParameters, kTypes, nullptr, streaming, kVariants,
    kValidated};

}  // namespace roofcast::reduce
