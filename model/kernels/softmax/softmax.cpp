#include "model/kernels/softmax/softmax.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "model/counting/coalescing.hpp"
#include "model/kernels/common/plan_parts.hpp"
#include "model/kernels/softmax/counts.hpp"
#include "model/libraries/softmax.hpp"

namespace roofcast::softmax {
namespace {

constexpr std::array kTypes = {DType::fp32, DType::fp16, DType::bf16};

// validation/sweeps/rows.json.
constexpr std::array kValidated = {ValidatedRange{rows::kRows, 64, std::int64_t{1} << 20},
                                   ValidatedRange{rows::kCols, 128, 262144}};

// Registers of the compiled kernels (ptxas -v of CUDA 13.0 for compute capability
// 9.0).
struct Registers {
  DType dtype;
  std::int64_t three_pass, online;
  std::array<std::int64_t, 4> held;  ///< 1, 2, 4, 8 vectors a thread; 0: not compiled
  std::array<std::int64_t, 2> ring;  ///< a block, a cluster a row
};
constexpr std::array kRegisters = {
    Registers{DType::fp32, 45, 48, {23, 29, 37, 55}, {90, 70}},
    Registers{DType::fp16, 55, 61, {27, 39, 53, 0}, {64, 64}},
    Registers{DType::bf16, 55, 61, {27, 39, 53, 0}, {64, 64}},
};

const Registers& registers_of(DType dtype) {
  const auto* const found = std::find_if(kRegisters.begin(), kRegisters.end(),
                                         [&](const Registers& r) { return r.dtype == dtype; });
  return found == kRegisters.end() ? kRegisters.front() : *found;
}

std::int64_t held_registers(const Problem& p, const rows::Layout& layout) {
  const Registers& known = registers_of(p.dtype);
  std::size_t position = 0;
  while ((std::int64_t{1} << position) < layout.vectors && position + 1 < known.held.size()) {
    ++position;
  }
  return known.held[position];
}

bool narrow(const Problem& p) {
  return element_bytes(p) == 2;
}

template <class Counted>
const Counted& of_type(const std::array<Counted, 2>& table, const Problem& p) {
  return table[narrow(p) ? 1 : 0];
}

/// Bytes of the matrix, as requested and in whole sectors, warp by warp and joined along rows.
struct MatrixBytes {
  double requested;
  double accessed;
  double distinct;
};

MatrixBytes matrix_bytes(const Problem& p, const rows::Layout& layout) {
  const rows::Sectors sectors =
      rows::sectors_of(p[rows::kRows], p[rows::kCols], element_bytes(p), layout);
  return {as_double(p[rows::kRows]) * as_double(p[rows::kCols] * element_bytes(p)),
          sectors.accessed * kSectorBytes, sectors.distinct * kSectorBytes};
}

// x in and y out, and the arithmetic that they need.
void set_arrays(Plan& plan, const Problem& p, const PerElement& each, const MatrixBytes& bytes) {
  const double elements = as_double(p[rows::kRows]) * as_double(p[rows::kCols]);
  plan.useful.vector_flops = each.flops * elements;
  plan.useful.special_flops = each.special * elements;
  plan.useful.conversions = narrow(p) ? elements / 2 : 0;
  plan.arrays = {reads_activation(0, bytes.requested), writes(1, bytes.requested)};
  if (bytes.accessed > bytes.requested) {
    plan.notes.traffic_reasons.push_back(
        {Level::l1, "rows that do not begin on a sector: warps share the sector between them"});
  }
}

// Elements that a block's threads handle, those beyond the row with them.
Step arithmetic(const Problem& p, const PerElement& each, double elements) {
  Step step;
  step.issued.vector_flops = elements * each.flops;
  step.issued.special_flops = elements * each.special;
  step.issued.conversions = narrow(p) ? elements / 2 : 0;
  return step;
}

// The compiler stores 16 bytes of a thread as four parts, by the counters of every variant but
// cluster. `warps` of a block store together.
constexpr double kStoreParts = 4;
void split_stores(Plan& plan, const MatrixBytes& bytes, double warps) {
  plan.arrays.back().split = {bytes.accessed / kSectorBytes, kStoreParts,
                              warps * as_double(rows::kWarp * rows::kVectorBytes)};
}

std::vector<Problem> registers_candidates(const Problem& p, const Gpu& /*gpu*/) {
  const std::int64_t width = element_bytes(p);
  std::vector<Problem> found;
  for (const std::int64_t vectors :
       rows::held_vectors(p[kVectors], rows::vectors_of(p[rows::kCols], width), most_vectors(width),
                          rows::kMaxThreads)) {
    found.push_back(p);
    found.back()[kVectors] = vectors;
  }
  return found;
}

std::vector<Problem> cluster_candidates(const Problem& p, const Gpu& gpu) {
  constexpr std::int64_t kMostInTurn = 16;
  const std::int64_t smallest = rows::cluster_for(p[rows::kCols] * element_bytes(p), kSliceBytes);
  std::vector<Problem> found;
  for (const std::int64_t cluster : rows::clusters(p[kCluster], smallest, gpu)) {
    for (const std::int64_t in_turn :
         rows::rows_in_turn(p[kRowsPerCluster], kMostInTurn, p[rows::kRows])) {
      found.push_back(p);
      found.back()[kCluster] = cluster;
      found.back()[kRowsPerCluster] = in_turn;
    }
  }
  return found;
}

void check_layout(const Problem& p, const rows::Layout& layout, std::string_view instead) {
  if (layout.vectors > most_vectors(element_bytes(p)) ||
      rows::power_of_two_from(layout.vectors) != layout.vectors) {
    throw InputError("vectors is " + std::to_string(layout.vectors) +
                     ": give a power of two, at most " +
                     std::to_string(most_vectors(element_bytes(p))));
  }
  if (layout.threads > rows::kMaxThreads) {
    throw InputError("a row of " + std::to_string(p[rows::kCols]) +
                     " elements does not fit the registers of one block: use " +
                     std::string(instead));
  }
}

Plan plan_held(const Problem& p, const rows::Layout& layout) {
  Plan plan = rows::plan_of(layout, p[rows::kRows], held_registers(p, layout), rows::kWarp * 8);
  const MatrixBytes bytes = matrix_bytes(p, layout);
  set_arrays(plan, p, kHeld, bytes);

  const double blocks = as_double(plan.launch.blocks());
  const double warps = as_double(layout.threads * layout.rows_per_block / rows::kWarp);
  split_stores(plan, bytes, warps);
  const double accesses = warps * as_double(layout.vectors);
  const bool alone = layout.threads == rows::kWarp;
  Step step = arithmetic(p, kHeld, plan.on_chip_bytes / as_double(element_bytes(p)));
  step.issued.requested = shared_by({bytes.requested, bytes.requested}, blocks);
  step.issued.l1 = shared_by({bytes.accessed, kStoreParts * bytes.accessed}, blocks);
  step.issued.l2 = shared_by({bytes.distinct, bytes.accessed}, blocks);
  const Instructions& counted = of_type(kHeldInstructions, p);
  const double inside = rows::accesses_inside(p[rows::kCols], element_bytes(p), layout);
  step.warp_instructions =
      rows::instructions_of_row(counted, inside, accesses, warps, alone ? 0 : 1);
  step.wavefronts.l1 = step.wavefronts.l1_lookups =
      step.issued.l1.total_bytes() / as_double(kLineBytes);
  step.wavefronts.shared = alone ? 0 : 2 * warps;
  step.issued.shared_bytes = step.wavefronts.shared * as_double(kLineBytes);
  step.waits = {
      .global = 1,
      .shared = (alone ? 1 : 2) * kShufflesOfWarp,
      // The maximum and the sum of a thread's elements, one after the other.
      .arithmetic = 2 * as_double(layout.vectors * rows::kVectorBytes / element_bytes(p)) +
                    (alone ? 1 : 2) * kDependentOfMerge + kDependentOfEnds + kDependentOfScale,
      .barriers = alone ? 0.0 : 1.0};
  set_blocks(plan, {{step}});
  return plan;
}

LaunchSequence plan_registers(const Problem& p, const Gpu& /*gpu*/) {
  rows::check_chosen({p[kVectors]});
  const rows::Layout layout = registers_layout(p);
  check_layout(p, layout, "softmax.cluster or softmax.online");
  return launch_of(plan_held(p, layout));
}

// Rows in turn through shared memory: the loads of the next rows go on while a row is reduced.
LaunchSequence plan_cluster(const Problem& p, const Gpu& /*gpu*/) {
  rows::check_chosen({p[kCluster], p[kRowsPerCluster]});
  const rows::Layout layout = cluster_layout(p);
  const std::int64_t stages = p[kStages];
  if (rows::power_of_two_from(layout.cluster) != layout.cluster) {
    throw InputError("cluster is " + std::to_string(layout.cluster) +
                     ": give 1, 2, 4, 8 or 16 blocks, or 0 for the fastest");
  }
  if (layout.threads > kRingThreads) {
    throw InputError("a row of " + std::to_string(p[rows::kCols]) +
                     " elements is more than 64 KB for each of " + std::to_string(layout.cluster) +
                     " blocks: use a larger cluster or softmax.online");
  }
  const bool clustered = layout.cluster > 1;
  const std::int64_t ring = rows::ring_bytes(layout, stages, 1);
  Plan plan = rows::plan_of(layout, p[rows::kRows], registers_of(p.dtype).ring[clustered ? 1 : 0],
                            ring + rows::exchange_bytes(kRingThreads, clustered));
  plan.needs = {Instruction::bulk_copy};
  const PerElement again = narrow(p) ? kRingAgain : PerElement{};
  const MatrixBytes bytes = matrix_bytes(p, layout);
  set_arrays(plan, p, {kRing.flops + again.flops, kRing.special + again.special}, bytes);

  const double warps = as_double(layout.threads / rows::kWarp);
  const double accesses = warps * as_double(layout.vectors);
  const double row_count =
      as_double(rows::ceil_div(p[rows::kRows], layout.blocks(p[rows::kRows]) / layout.cluster));
  const double steps = as_double(plan.launch.blocks()) * row_count;
  const double inside = rows::accesses_inside(p[rows::kCols], element_bytes(p), layout);
  const double elements_inside =
      inside * kWarpLanes * as_double(rows::kVectorBytes / element_bytes(p));
  Step row = arithmetic(p, kRing, plan.on_chip_bytes / as_double(element_bytes(p)));
  row.issued.vector_flops += again.flops * elements_inside;
  row.issued.special_flops += again.special * elements_inside;
  row.issued.requested = shared_by({bytes.requested, bytes.requested}, steps);
  row.issued.l1 = shared_by({bytes.accessed, bytes.accessed}, steps);
  row.issued.l2 = shared_by({bytes.distinct, bytes.accessed}, steps);
  const Instructions& counted = of_type(kRingInstructions, p);
  const double rounds = std::ceil(warps * as_double(layout.cluster) / kWarpLanes);
  row.warp_instructions = rows::instructions_of_row(counted, inside, accesses, warps, rounds);
  // Bulk copies go past L1's lookup into shared memory, from where they are read once more.
  const double slice_wavefronts = row.issued.l1.read_bytes / as_double(kLineBytes);
  row.wavefronts.l1 = row.wavefronts.l1_lookups = row.issued.l1.write_bytes / as_double(kLineBytes);
  row.wavefronts.shared = 2 * slice_wavefronts + warps * as_double(layout.cluster) + warps;
  row.issued.shared_bytes = row.wavefronts.shared * as_double(kLineBytes);
  row.waits = {
      .tile_loads = 1,
      .shared = 2 * kShufflesOfWarp + 1,
      .arithmetic = 2 * as_double(layout.vectors * rows::kVectorBytes / element_bytes(p)) / 4 +
                    kDependentOfEnds + kDependentOfScale,
      .barriers = clustered ? 0.0 : 1.0,
      .cluster_exchanges = clustered ? 1.0 : 0.0};
  Step start;  // loads the first row
  start.waits.tile_loads = rows::kLoadsOfStart;
  start.waits.cluster_exchanges = clustered ? rows::kExchangesOfStart : 0;
  start.warp_instructions = warps * counted.start;
  // A row is in registers while the buffers fill with the next ones.
  set_blocks(plan, {{start}, {row, row_count, as_double(stages) + 1}});
  plan.on_chip_bytes += as_double(ring);
  return launch_of(std::move(plan));
}

/// A kernel that sweeps over the row `reads` times and writes in the last.
struct Sweeps {
  double reads;
  PerElement each;
  double rescales;  ///< of a running sum, for each vector
  const std::array<Swept, 2>& counted;
  std::int64_t registers;
  std::int64_t merges;  ///< over the warps of the block
};

Plan plan_sweeps(const Problem& p, const Sweeps& how) {
  if (p[kThreads] % rows::kWarp != 0) {
    throw InputError("threads is " + std::to_string(p[kThreads]) + ": give a multiple of 32");
  }
  constexpr std::int64_t kBatch = 4;  // accesses a thread issues together: row_sweep.cuh
  rows::Layout layout = sweep_layout(p);
  layout.vectors = 0;  // nothing is held
  Plan plan = rows::plan_of(layout, p[rows::kRows], how.registers, how.merges * rows::kWarp * 8);
  const double width = as_double(rows::kVectorBytes / element_bytes(p));
  PerElement each = how.each;
  each.flops += how.rescales * kRescaleFlops / width;
  each.special += how.rescales / width;
  const MatrixBytes bytes = matrix_bytes(p, layout);
  set_arrays(plan, p, each, bytes);

  const double rows_here = as_double(layout.rows_per_block);
  const double block_bytes = as_double(p[rows::kCols] * element_bytes(p)) * rows_here;
  // Between two uses of a row each resident block makes a sweep, and one in `reads` sweeps writes
  // as much, through L1 too. By the sectors that L2 is asked for, runs default and
  // random1: of rows that are 1.27 times L1 together, 98% are missed.
  plan.reuse = {{.scope = Scope::block,
                 .bytes = (how.reads - 1) * bytes.distinct,
                 .distance_bytes = (1 + 1 / how.reads) * block_bytes,
                 .l2_distance_bytes = (1 + 1 / how.reads) * block_bytes}};

  const std::int64_t vectors =
      std::max<std::int64_t>(1, rows::vectors_of(p[rows::kCols], element_bytes(p)));
  const std::int64_t sweep = rows::ceil_div(vectors, kBatch * layout.threads);
  // A warp whose first access of a batch lies beyond the row skips the batch.
  const std::int64_t last = vectors - (sweep - 1) * kBatch * layout.threads;
  const double entered =
      rows_here * as_double((sweep - 1) * layout.threads / rows::kWarp +
                            rows::ceil_div(std::min(last, layout.threads), rows::kWarp));
  const double stored = rows_here * as_double(rows::ceil_div(vectors, rows::kWarp));
  split_stores(plan, bytes, entered / as_double(sweep));
  const double batches = as_double(sweep) * how.reads;
  const double steps = as_double(plan.launch.blocks()) * batches;
  // Of one sweep: what is read is computed with, beyond the row too; what is written is not.
  const double computed = (1 - 1 / how.reads) * entered * kBatch + stored / how.reads;
  Step batch = arithmetic(p, {each.flops / how.reads, each.special / how.reads},
                          computed / as_double(sweep) * kWarpLanes * width);
  batch.issued.conversions /= how.reads;  // packed in the last sweep only
  batch.issued.requested = shared_by({how.reads * bytes.requested, bytes.requested}, steps);
  batch.issued.l1 = shared_by({how.reads * bytes.accessed, kStoreParts * bytes.accessed}, steps);
  batch.issued.l2 = shared_by({how.reads * bytes.distinct, bytes.accessed}, steps);
  const Swept& counted = of_type(how.counted, p);
  batch.warp_instructions = (entered * counted.batch + stored * counted.vector) / batches;
  batch.wavefronts.l1 = batch.wavefronts.l1_lookups =
      batch.issued.l1.total_bytes() / as_double(kLineBytes);
  // Sweeps that reduce wait for each element, and where they rescale for each vector; the last one
  // works on elements apart.
  const double reduced = (how.reads - 1 + (how.rescales > 0 ? 1 : 0)) * as_double(kBatch) * width;
  batch.waits = {.global = 1,
                 .arithmetic = (reduced + how.rescales * as_double(kBatch) * kDependentOfRescale +
                                how.reads * kDependentOfBatch) /
                               how.reads};

  const auto merges = as_double(how.merges);
  const bool alone = layout.threads == rows::kWarp;
  const double warps = as_double(layout.threads * layout.rows_per_block / rows::kWarp);
  Step merge;
  merge.warp_instructions = warps * (alone ? counted.alone : counted.warp);
  merge.wavefronts.shared = alone ? 0 : merges * 2 * warps;
  merge.issued.shared_bytes = merge.wavefronts.shared * as_double(kLineBytes);
  merge.waits.shared = merges * (alone ? 1 : 2) * kShufflesOfWarp;
  merge.waits.arithmetic = merges * (alone ? 1 : 2) * kDependentOfMerge + kDependentOfEnds;
  merge.waits.barriers = alone ? 0 : merges;
  set_blocks(plan, {{batch, batches}, {merge}});
  return plan;
}

LaunchSequence plan_three_pass(const Problem& p, const Gpu& /*gpu*/) {
  return launch_of(plan_sweeps(
      p, {3, kThreePass, 0, kThreePassInstructions, registers_of(p.dtype).three_pass, 2}));
}
LaunchSequence plan_online(const Problem& p, const Gpu& /*gpu*/) {
  return launch_of(
      plan_sweeps(p, {2, kOnline, 1, kOnlineInstructions, registers_of(p.dtype).online, 1}));
}

constexpr std::array kSweepParameters =
    with_own(rows::kShape,
             setting("threads", "threads of a row: a block, or with 32 a warp", 32, 1024, 256));
constexpr std::array kRegistersParameters = with_own(
    rows::kShape,
    setting("vectors", "16-byte accesses a thread holds: 1, 2, 4, 8; 0: the fastest", 0, 8, 0));
constexpr std::array kClusterParameters = with_own(
    rows::kShape,
    setting("cluster", "blocks that share a row: 1, 2, 4, 8, 16; 0: the fastest", 0, 16, 0),
    setting("rows_per_cluster", "rows a block takes one after the other; 0: the fastest of 1 to 16",
            0, 65536, 0),
    setting("stages", "rows for which a block has buffers", 1, 32, 1));

constexpr std::array<KernelModel, 5> kVariants = {{
    {"softmax.three_pass", "maximum, sum, normalize: three sweeps over the row", kSweepParameters,
     kTypes, plan_three_pass},
    {"softmax.online", "maximum and sum in one sweep, then normalize", kSweepParameters, kTypes,
     plan_online},
    {"softmax.registers",
     "the row in registers: read once",
     kRegistersParameters,
     kTypes,
     plan_registers,
     {},
     registers_candidates},
    {"softmax.cluster",
     "rows stream through the shared memory of a thread-block cluster: read once",
     kClusterParameters,
     kTypes,
     plan_cluster,
     {},
     cluster_candidates},
    kLibrary,
}};

// Subtract, exponential, add, multiply: however computed.
Work work(const Problem& p) {
  const double elements = as_double(p[rows::kRows]) * as_double(p[rows::kCols]);
  const double bytes = elements * size_bytes(p.dtype);
  Work result;
  result.vector_flops = 3 * elements;
  result.special_flops = elements;
  result.compulsory = {bytes, bytes};
  return result;
}

}  // namespace

constinit const KernelFamily kFamily = {
    "softmax", "y[r,c] = e^x[r,c] / Σ e^x[r,·]", rows::kShape, kTypes, work, streaming, kVariants,
    kValidated};

}  // namespace roofcast::softmax
