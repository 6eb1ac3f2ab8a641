#include "model/kernels/reduce.hpp"

#include <algorithm>
#include <string>

#include "model/counting/coalescing.hpp"
#include "model/counting/io_complexity.hpp"

namespace roofcast::reduce {
namespace {

enum class Kind : unsigned char { row, weighted, global };

constexpr std::array kTypes = {DType::fp32, DType::fp16, DType::bf16};

// validation/sweeps/rows.json.
constexpr std::array kValidated = {ValidatedRange{rows::kRows, 1, std::int64_t{1} << 20},
                                   ValidatedRange{rows::kCols, 128, std::int64_t{1} << 28}};

double as_double(std::int64_t value) {
  return static_cast<double>(value);
}

// Registers of the compiled kernels (ptxas -v for sm_90a, CUDA 13.0, 2026-11-21).
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
      return {p[rows::kRows], p[rows::kCols], weighted_layout(p)};
    case Kind::global:
      return {1, p[rows::kRows] * p[rows::kCols], global_layout(p)};
    default:
      return {p[rows::kRows], p[rows::kCols], row_layout(p)};
  }
}

// What crosses between L1 and L2 for the weights, which every group of rows reads.
double weight_reads(const Plan& plan, double requested, double row_bytes, const Gpu& gpu) {
  // Between two uses of a weight an SM reads its group's rows.
  const double distance = (1 + as_double(kWeightedRows)) * row_bytes;
  const double misses = rows::l1_miss_share(0, distance, plan.launch, gpu);
  const double sms = as_double(std::min(plan.launch.blocks(), gpu.sm_count.value_or(1)));
  return misses * requested + (1 - misses) * std::min(requested, sms * row_bytes);
}

Plan plan_sums(Kind kind, const Problem& p, const Gpu& gpu) {
  const Shape shape = shape_of(kind, p);
  const Layout& layout = shape.layout;
  const bool weighted = kind == Kind::weighted;
  const std::int64_t row_bytes = shape.cols * element_bytes(p);
  const bool ragged = row_bytes % rows::kVectorBytes != 0;
  Plan plan;
  plan.launch.grid[0] = layout.blocks(shape.rows);
  plan.launch.block = {layout.threads, layout.groups_a_block, 1};
  plan.launch.registers = weighted ? weighted_registers(p.dtype, ragged) : kSumRegisters;
  plan.launch.shared_bytes = layout.rows_a_group * kThreads / rows::kWarp * 4;

  const double elements = as_double(shape.rows) * as_double(shape.cols);
  const double bytes = elements * as_double(element_bytes(p));
  const double weights = weighted ? as_double(row_bytes) : 0;
  const double out = as_double(shape.rows) * as_double(element_bytes(p));
  const double partials = layout.split > 1 ? as_double(shape.rows * layout.split) * 4 : 0;
  const double groups = as_double(rows::ceil_div(shape.rows, layout.rows_a_group));
  const rows::Sectors sectors =
      rows::sectors_of(shape.rows, shape.cols, element_bytes(p), {.cluster = layout.split});
  Work& work = plan.total;
  work.vector_flops = elements * (weighted ? 2 : 1);
  work.compulsory = {bytes + weights, layout.split > 1 ? 0 : out};
  const double written = layout.split > 1 ? partials : out;
  work.dram_footprint = {bytes + weights, written};
  work.requested = {bytes + groups * weights, written};
  // One lane of a block stores, a sector each time.
  const double stores = as_double(shape.rows * layout.split) * kSectorBytes;
  work.l1 = {sectors.accessed * kSectorBytes + groups * weights, stores};
  work.l2 = {sectors.distinct * kSectorBytes +
                 (weighted ? weight_reads(plan, groups * weights, weights, gpu) : 0),
             stores};
  if (stores > 2 * written) {
    plan.traffic_reasons.push_back({Level::l1, "one sum a store: a sector moved for one element"});
  }

  const double blocks = as_double(plan.launch.blocks());
  const double warps = as_double(layout.threads * layout.groups_a_block / rows::kWarp);
  const double width = as_double(rows::kVectorBytes / element_bytes(p));
  const std::int64_t chunk = chunk_elements(shape.cols, element_bytes(p), layout.split);
  const std::int64_t vectors = rows::ceil_div(chunk, rows::kVectorBytes / element_bytes(p));
  const std::int64_t batch = weighted ? kBatch / kWeightedRows : kBatch;  // vectors of a row
  plan.block.steps =
      as_double(std::max<std::int64_t>(1, rows::ceil_div(vectors, batch * layout.threads)));
  Step& step = plan.block.step;
  const double accesses = warps * as_double(batch * layout.rows_a_group);  // of x, a step
  const double weight_accesses = weighted ? warps * as_double(batch) : 0;
  const double unpack = element_bytes(p) == 2 ? 1 : 0;
  step.vector_flops = accesses * rows::kWarp * width * (weighted ? 2 : 1);
  step.instructions =
      (accesses + weight_accesses) * (kInstructionsPerLoad + width * unpack) + accesses * width;
  if (weighted && ragged) step.instructions += (accesses + weight_accesses) * width * 4;
  step.l2_bytes = work.l2.read_bytes / blocks / plan.block.steps;
  step.l1_wavefronts = step.l1_lookups =
      work.l1.read_bytes / blocks / plan.block.steps / as_double(kLineBytes);
  step.global_round_trips = 1;
  step.dependent_fmas = as_double(batch) * (weighted ? width : 1);
  Step& once = plan.block.once;
  const bool alone = layout.threads == rows::kWarp;
  const double sums = as_double(layout.rows_a_group);
  once.instructions =
      warps * (kInstructionsPerThread + (alone ? 1 : 2) * sums * kInstructionsPerWarpSum);
  once.shared_round_trips = (alone ? 1 : 2) * kShufflesOfWarp;
  once.shared_wavefronts = alone ? 0 : 2 * warps * sums;
  once.barriers = alone ? 0 : 1;
  once.l2_bytes = work.l2.write_bytes / blocks;
  work.shared_bytes = once.shared_wavefronts * as_double(kLineBytes) * blocks;
  plan.caveat = "instructions are estimated from the PTX";
  return plan;
}

// Adds the chunks' sums, which L2 still holds.
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
  Work& work = plan.total;
  work.vector_flops = partials / 4;
  work.compulsory = {0, out};
  work.dram_footprint = work.requested = work.l1 = work.l2 = {partials, out};
  work.l1.write_bytes = work.l2.write_bytes = as_double(shape.rows) * kSectorBytes;
  plan.reuse = {.read_bytes = partials, .write_bytes = 0, .distance_bytes = partials};
  constexpr double kUnrolled = 8;
  const double loads = as_double(rows::ceil_div(shape.layout.split, finish.threads));
  const double warps = as_double(finish.threads * finish.rows_a_block / rows::kWarp);
  plan.block.steps = 0;
  Step& once = plan.block.once;
  once.vector_flops = loads * warps * rows::kWarp;
  once.instructions = warps * (loads * 4 + kInstructionsPerThread);
  once.l2_bytes = work.l2.total_bytes() / as_double(plan.launch.blocks());
  once.l1_wavefronts = once.l1_lookups = warps * loads;
  once.global_round_trips = std::max(1.0, loads / kUnrolled);
  once.dependent_fmas = loads;
  once.shared_round_trips = 2 * kShufflesOfWarp;
  once.barriers = finish.threads > rows::kWarp ? 1 : 0;
  return plan;
}

template <Kind kKind>
Plans plan(const Problem& p, const Gpu& gpu) {
  Plans plans = {plan_sums(kKind, p, gpu)};
  if (shape_of(kKind, p).layout.split > 1) plans.push_back(plan_finish(kKind, p));
  return plans;
}

constexpr std::array kParameters = {
    rows::kShape[0], rows::kShape[1],
    setting("split", "blocks that share a row; 0: by the shape", 0, kMostChunks, 0)};

constexpr std::array<KernelModel, 3> kVariants = {{
    {"reduce.row", "y[r] = Σ x[r,c]: a warp or a block a row, long rows split", kParameters, kTypes,
     plan<Kind::row>},
    {"reduce.weighted", "y[r] = Σ w[c]·x[r,c]: four rows share each weight loaded", kParameters,
     kTypes, plan<Kind::weighted>},
    {"reduce.global", "y = Σ x: a block a chunk, then a block for all chunks", kParameters, kTypes,
     plan<Kind::global>},
}};

IoComplexity io(const Problem& /*problem*/, double compulsory_bytes, double on_chip_bytes) {
  return streaming_io(compulsory_bytes, on_chip_bytes);
}

}  // namespace

constinit const KernelFamily kFamily = {
    "reduce",  "sums over rows, or over all", kParameters, kTypes, nullptr, io, kVariants,
    kValidated};

}  // namespace roofcast::reduce
