#include "model/kernels/softmax/softmax.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "model/counting/coalescing.hpp"
#include "model/kernels/common/plan_parts.hpp"
#include "model/kernels/compiled.hpp"
#include "model/kernels/softmax/counts.hpp"
#include "model/kernels/softmax/plan_parts.hpp"
#include "model/libraries/softmax.hpp"

namespace roofcast::softmax {
namespace {

constexpr std::array kTypes = {DType::fp32, DType::fp16, DType::bf16};

// validation/sweeps/rows.json.
constexpr std::array kValidated = {ValidatedRange{rows::kRows, 64, std::int64_t{1} << 20},
                                   ValidatedRange{rows::kCols, 128, 262144}};

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
  Plan plan = rows::plan_of(layout, p[rows::kRows],
                            compiled::registers("softmax::held_kernel", p.dtype, layout.vectors),
                            rows::kWarp * 8);
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
  Plan plan = rows::plan_of(layout, p[rows::kRows],
                            compiled::registers("softmax::ring_kernel", p.dtype, clustered),
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
  plan.arrays.front().pattern.out_of_step = row_count > 1;
  // A row is in registers while the buffers fill with the next ones.
  set_blocks(plan, {{start}, {row, row_count, as_double(stages)}});
  plan.on_chip_bytes += as_double(ring);
  return launch_of(std::move(plan));
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
