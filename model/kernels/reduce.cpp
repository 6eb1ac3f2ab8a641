#include "model/kernels/reduce.hpp"

#include <algorithm>
#include <string>

#include "model/counting/coalescing.hpp"
#include "model/kernels/plan_parts.hpp"

namespace roofcast::reduce {
namespace {

enum class Kind : unsigned char { row, weighted, global };

constexpr std::array kTypes = {DType::fp32, DType::fp16, DType::bf16};

// validation/sweeps/rows.json.
constexpr std::array kValidated = {ValidatedRange{rows::kRows, 1, std::int64_t{1} << 20},
                                   ValidatedRange{rows::kCols, 128, std::int64_t{1} << 28}};

// Registers of the compiled kernels (ptxas -v of CUDA 13.0 for compute capability
// 9.0, 2026-11-21).
constexpr std::int64_t kSumRegisters = 56;
constexpr std::int64_t kFinishRegisters = 30;
std::int64_t weighted_registers(DType dtype, bool ragged) {
  if (dtype == DType::fp32) return ragged ? 70 : 78;
  return ragged ? 68 : dtype == DType::fp16 ? 70 : 72;
}

// Estimates from the PTX: an access with its bounds test, address and padding; a thread besides; a
// sum over a warp, and over the warps of a block.
constexpr double kInstructionsPerLoad = 9;
constexpr double kInstructionsPerThread = 60;
constexpr double kInstructionsPerWarpSum = 10;
constexpr double kShufflesOfWarp = 5;

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

// Chunks of a row: none, or the four largest powers of two that leave chunks of some size and no more
// of them than the second launch can add up.
std::vector<std::int64_t> splits(std::int64_t given, std::int64_t groups,
                                 std::int64_t group_bytes) {
  constexpr std::int64_t kLeastChunkBytes = 8192;
  if (given != 0) return {given};
  std::vector<std::int64_t> values = {1};
  const std::int64_t most = std::min(group_bytes / kLeastChunkBytes, kMostChunks / groups);
  std::int64_t largest = 1;
  while (2 * largest <= most) largest *= 2;
  for (std::int64_t split = largest; split > 1 && split > largest / 16; split /= 2) {
    values.push_back(split);
  }
  return values;
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
    for (std::int64_t threads = p[kThreads] != 0 ? p[kThreads] : batched;;) {
      one[kThreads] = threads;
      found.push_back(one);
      if (p[kThreads] != 0 || threads == rows::kWarp || threads < batched) break;
      threads = std::max(rows::kWarp, threads / 4);
    }
  }
  return found;
}

enum : ArrayId { kX, kWeights, kPartials, kSums };

Plan plan_sums(Kind kind, const Problem& p) {
  const Shape shape = shape_of(kind, p);
  const Layout& layout = shape.layout;
  const bool weighted = kind == Kind::weighted;
  const std::int64_t row_bytes = shape.cols * element_bytes(p);
  const bool ragged = row_bytes % rows::kVectorBytes != 0;
  Plan plan;
  plan.launch.grid[0] = layout.blocks(shape.rows);
  plan.launch.block = {layout.threads, layout.groups_a_block, 1};
  plan.launch.registers = weighted ? weighted_registers(p.dtype, ragged) : kSumRegisters;
  plan.launch.shared_bytes = layout.rows_a_group * kMostThreads / rows::kWarp * 4;
  plan.caveat = "instructions are estimated from the PTX";

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
    plan.traffic_reasons.push_back({Level::l1, "one sum a store: a sector moved for one element"});
  }

  const double blocks = as_double(plan.launch.blocks());
  const double warps = as_double(layout.threads * layout.groups_a_block / rows::kWarp);
  const double width = as_double(rows::kVectorBytes / element_bytes(p));
  const std::int64_t chunk = chunk_elements(shape.cols, element_bytes(p), layout.split);
  const std::int64_t vectors = rows::ceil_div(chunk, rows::kVectorBytes / element_bytes(p));
  const std::int64_t batch = weighted ? kBatch / kWeightedRows : kBatch;  // vectors of a row
  const double batches =
      as_double(std::max<std::int64_t>(1, rows::ceil_div(vectors, batch * layout.threads)));
  const double accesses = warps * as_double(batch * layout.rows_a_group);  // of x, a step
  const double weight_accesses = weighted ? warps * as_double(batch) : 0;
  const double unpack = element_bytes(p) == 2 ? 1 : 0;
  const rows::Sectors sectors =
      rows::sectors_of(shape.rows, shape.cols, element_bytes(p), {.cluster = layout.split});
  Step load;
  load.issued.vector_flops = accesses * rows::kWarp * width * (weighted ? 2 : 1);
  const double steps = blocks * batches;
  load.issued.requested = shared_by({bytes + groups * weights, 0}, steps);
  load.issued.l1 = shared_by({sectors.accessed * kSectorBytes + groups * weights, 0}, steps);
  load.issued.l2 = shared_by({sectors.distinct * kSectorBytes + groups * weights, 0}, steps);
  load.warp_instructions =
      (accesses + weight_accesses) * (kInstructionsPerLoad + width * unpack) + accesses * width;
  if (weighted && ragged) load.warp_instructions += (accesses + weight_accesses) * width * 4;
  load.wavefronts.l1 = load.wavefronts.l1_lookups =
      load.issued.l1.read_bytes / as_double(kLineBytes);
  load.waits = {.global = 1, .arithmetic = as_double(batch) * (weighted ? width : 1)};

  const bool alone = layout.threads == rows::kWarp;
  const double rows_summed = as_double(layout.rows_a_group);
  Step merge;
  merge.issued.requested = shared_by({0, written}, blocks);
  merge.issued.l1 = merge.issued.l2 = shared_by({0, stores}, blocks);
  merge.warp_instructions =
      warps * (kInstructionsPerThread + (alone ? 1 : 2) * rows_summed * kInstructionsPerWarpSum);
  merge.wavefronts.shared = alone ? 0 : 2 * warps * rows_summed;
  merge.issued.shared_bytes = merge.wavefronts.shared * as_double(kLineBytes);
  merge.waits.shared = (alone ? 1 : 2) * kShufflesOfWarp;
  merge.waits.barriers = alone ? 0 : 1;
  set_blocks(plan, {{load, batches}, {merge}});
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
  plan.launch.registers = kFinishRegisters;
  plan.launch.shared_bytes = rows::kMaxThreads / rows::kWarp * 4;
  plan.useful.vector_flops = partials / 4;
  plan.arrays = {scratch(kPartials, {partials, 0}), writes(kSums, out)};
  constexpr double kUnrolled = 8;
  const double blocks = as_double(plan.launch.blocks());
  const double loads = as_double(rows::ceil_div(shape.layout.split, finish.threads));
  const double warps = as_double(finish.threads * finish.rows_a_block / rows::kWarp);
  Step step;
  step.issued.vector_flops = loads * warps * rows::kWarp;
  step.issued.requested = shared_by({partials, out}, blocks);
  step.issued.l1 = step.issued.l2 =
      shared_by({partials, as_double(shape.rows) * kSectorBytes}, blocks);
  step.warp_instructions = warps * (loads * 4 + kInstructionsPerThread);
  step.wavefronts.l1 = step.wavefronts.l1_lookups = warps * loads;
  step.waits = {.global = std::max(1.0, loads / kUnrolled),
                .shared = 2 * kShufflesOfWarp,
                .arithmetic = loads,
                .barriers = finish.threads > rows::kWarp ? 1.0 : 0.0};
  set_blocks(plan, {{step}});
  return plan;
}

template <Kind kKind>
Program plan(const Problem& p, const Gpu& /*gpu*/) {
  rows::check_chosen({p[kSplit], p[kThreads]});
  if (rows::power_of_two_from(p[kThreads]) != p[kThreads] || p[kThreads] < rows::kWarp) {
    throw InputError("threads is " + std::to_string(p[kThreads]) +
                     ": give 32, 64, 128 or 256, or 0 for the fastest");
  }
  Program program = {{plan_sums(kKind, p)}};
  if (shape_of(kKind, p).layout.split > 1) program.push_back({plan_finish(kKind, p)});
  return program;
}

constexpr std::array kParameters = {
    rows::kShape[0], rows::kShape[1],
    setting("split", "blocks that share a row; 0: the fastest", 0, kMostChunks, 0),
    setting("threads", "of a chunk of a row: 32, 64, 128, 256; 0: the fastest", 0, kMostThreads,
            0)};

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
