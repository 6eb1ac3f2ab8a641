#include "model/kernels/softmax.hpp"

#include <algorithm>
#include <string>

#include "model/counting/coalescing.hpp"
#include "model/counting/io_complexity.hpp"
#include "model/kernels/softmax_library.hpp"

namespace roofcast::softmax {
namespace {

constexpr std::array kTypes = {DType::fp32, DType::fp16, DType::bf16};

// validation/sweeps/rows.json.
constexpr std::array kValidated = {ValidatedRange{rows::kRows, 64, std::int64_t{1} << 20},
                                   ValidatedRange{rows::kCols, 128, 262144}};

double as_double(std::int64_t value) {
  return static_cast<double>(value);
}

// Registers of the compiled kernels (ptxas -v for sm_90a, CUDA 13.0, 2026-11-21).
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

/// Arithmetic for each element of a row, counted in the kernel's source: a maximum is no FLOP by
/// the counters; e^x is a product with log2 e and one special function.
struct PerElement {
  double flops;
  double special;
  double instructions;
  double unpacked;  ///< times a 16-bit element is widened
};
constexpr PerElement kHeld = {4, 1, 6, 1};       // max | - ·log2e exp + | ·scale
constexpr PerElement kRing = {4, 1, 6, 1};       // the same, exponentials kept
constexpr PerElement kRingAgain = {6, 2, 7, 2};  // max on pairs | ·log2e+ exp + | ·log2e+ exp
constexpr PerElement kThreePass = {6, 2, 9, 3};  // max | - ·log2e exp + | - ·log2e exp ·scale
constexpr PerElement kOnline = {6, 2, 9, 2};     // the same, max and sum in one sweep
constexpr double kRescaleFlops = 4;              // of the online sum, once a vector
constexpr double kRescaleInstructions = 6;
// Estimates from the PTX: an access with its bounds test, address and padding; what a thread does
// besides; the shuffles that merge a warp, and those that merge the warps' parts.
constexpr double kInstructionsPerLoad = 9;
constexpr double kInstructionsPerRingLoad = 3;
constexpr double kInstructionsPerStore = 5;
constexpr double kInstructionsPerThread = 70;
constexpr double kInstructionsPerMerge = 45;
constexpr double kShufflesOfWarp = 10;

bool narrow(const Problem& p) {
  return element_bytes(p) == 2;
}

void set_traffic(Plan& plan, const Problem& p, const rows::Layout& layout, double reads,
                 double l1_misses) {
  const double bytes = as_double(p[rows::kRows]) * as_double(p[rows::kCols] * element_bytes(p));
  const rows::Sectors sectors =
      rows::sectors_of(p[rows::kRows], p[rows::kCols], element_bytes(p), layout);
  Work& work = plan.total;
  work.compulsory = work.dram_footprint = {bytes, bytes};
  work.requested = {reads * bytes, bytes};
  work.l1 = {reads * sectors.accessed * kSectorBytes, sectors.accessed * kSectorBytes};
  work.l2 = {(1 + l1_misses) * sectors.distinct * kSectorBytes, sectors.accessed * kSectorBytes};
  if (sectors.accessed * kSectorBytes > bytes) {
    plan.traffic_reasons.push_back(
        {Level::l1, "rows that do not begin on a sector: warps share the sector between them"});
  }
}

// Elements that a block's threads handle, those beyond the row with them.
Step arithmetic(const Problem& p, const PerElement& each, double elements) {
  Step step;
  step.vector_flops = elements * each.flops;
  step.special_ops = elements * each.special;
  const double packs = narrow(p) ? elements / 2 : 0;
  step.conversions = packs;
  step.instructions =
      (elements * (each.instructions + (narrow(p) ? each.unpacked : 0)) + packs) / kWarpLanes;
  return step;
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
  const double elements = as_double(p[rows::kRows]) * as_double(p[rows::kCols]);
  plan.total.vector_flops = kHeld.flops * elements;
  plan.total.special_flops = kHeld.special * elements;
  plan.total.conversions = narrow(p) ? elements / 2 : 0;
  set_traffic(plan, p, layout, 1, 0);

  const double warps = as_double(layout.threads * layout.rows_per_block / rows::kWarp);
  const double accesses = warps * as_double(layout.vectors);
  const bool alone = layout.threads == rows::kWarp;
  Step& once = plan.block.once;
  once = arithmetic(p, kHeld, plan.on_chip_bytes / as_double(element_bytes(p)));
  once.instructions += accesses * (kInstructionsPerLoad + kInstructionsPerStore) +
                       warps * (kInstructionsPerThread + (alone ? 0 : kInstructionsPerMerge));
  once.l2_bytes = plan.total.l2.total_bytes() / as_double(plan.launch.blocks());
  once.l1_wavefronts = once.l1_lookups =
      plan.total.l1.total_bytes() / as_double(plan.launch.blocks()) / as_double(kLineBytes);
  once.global_round_trips = 1;
  once.shared_round_trips = (alone ? 1 : 2) * kShufflesOfWarp;
  // The maximum and the sum of a thread's elements, one after the other.
  once.dependent_fmas = 2 * as_double(layout.vectors * rows::kVectorBytes / element_bytes(p));
  once.barriers = alone ? 0 : 1;
  once.shared_wavefronts = alone ? 0 : 2 * warps;
  plan.total.shared_bytes =
      once.shared_wavefronts * as_double(kLineBytes) * as_double(plan.launch.blocks());
  plan.caveat = "instructions are estimated from the PTX";
  return plan;
}

Plans plan_registers(const Problem& p, const Gpu& /*gpu*/) {
  const rows::Layout layout = registers_layout(p);
  check_layout(p, layout, "softmax.cluster or softmax.online");
  return {plan_held(p, layout)};
}

// Rows in turn through shared memory: the loads of the next rows go on while a row is reduced.
Plans plan_cluster(const Problem& p, const Gpu& /*gpu*/) {
  const rows::Layout layout = cluster_layout(p);
  const std::int64_t stages = cluster_stages(p);
  if (rows::power_of_two_from(layout.cluster) != layout.cluster) {
    throw InputError("cluster is " + std::to_string(layout.cluster) +
                     ": give 1, 2, 4, 8 or 16 blocks, or 0 to choose by the row length");
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
  const PerElement& each = narrow(p) ? kRingAgain : kRing;
  const double elements = as_double(p[rows::kRows]) * as_double(p[rows::kCols]);
  plan.total.vector_flops = each.flops * elements;
  plan.total.special_flops = each.special * elements;
  plan.total.conversions = narrow(p) ? elements / 2 : 0;
  set_traffic(plan, p, layout, 1, 0);

  const double blocks = as_double(plan.launch.blocks());
  const double warps = as_double(layout.threads / rows::kWarp);
  const double accesses = warps * as_double(layout.vectors);
  plan.block.steps =
      as_double(rows::ceil_div(p[rows::kRows], layout.blocks(p[rows::kRows]) / layout.cluster));
  Step& step = plan.block.step;  // a row
  step = arithmetic(p, each, plan.on_chip_bytes / as_double(element_bytes(p)));
  step.instructions += accesses * (kInstructionsPerRingLoad + kInstructionsPerStore) +
                       warps * (kInstructionsPerThread + kInstructionsPerMerge);
  step.l2_bytes = plan.total.l2.total_bytes() / blocks / plan.block.steps;
  // Bulk copies go past L1's lookup into shared memory, from where they are read once more.
  step.l1_wavefronts = step.l1_lookups =
      plan.total.l1.write_bytes / blocks / plan.block.steps / as_double(kLineBytes);
  const double slice_wavefronts =
      plan.total.l1.read_bytes / blocks / plan.block.steps / as_double(kLineBytes);
  step.shared_wavefronts = 2 * slice_wavefronts + warps * as_double(layout.cluster) + warps;
  step.shared_round_trips = 2 * kShufflesOfWarp + (clustered ? 2 : 1);
  step.dependent_fmas = 2 * as_double(layout.vectors * rows::kVectorBytes / element_bytes(p)) / 4;
  step.barriers = 1;
  plan.block.once.global_round_trips = 1;  // the first row
  plan.block.once.instructions = warps * kInstructionsPerThread;
  plan.total.shared_bytes =
      step.shared_wavefronts * as_double(kLineBytes) * blocks * plan.block.steps;
  plan.on_chip_bytes += as_double(ring);
  plan.caveat = "instructions are estimated from the PTX";
  return {plan};
}

// Sweeps of `reads` passes over the row, the last of which also writes.
Plan plan_sweeps(const Problem& p, const Gpu& gpu, double reads, const PerElement& each,
                 double rescales, std::int64_t registers, std::int64_t parts) {
  if (p[kThreads] % rows::kWarp != 0) {
    throw InputError("threads is " + std::to_string(p[kThreads]) + ": give a multiple of 32");
  }
  constexpr std::int64_t kBatch = 4;  // accesses a thread issues together: row_sweep.cuh
  rows::Layout layout = sweep_layout(p);
  layout.vectors = 0;  // nothing is held
  Plan plan = rows::plan_of(layout, p[rows::kRows], registers, parts * rows::kWarp * 8);
  const double row_bytes = as_double(p[rows::kCols] * element_bytes(p));
  const double block_bytes = row_bytes * as_double(layout.rows_per_block);
  const double misses = (reads - 1) * rows::l1_miss_share(block_bytes, 0, plan.launch, gpu);
  set_traffic(plan, p, layout, reads, misses);
  plan.rereads.assign(static_cast<std::size_t>(reads) - 1,
                      {misses / (reads - 1) * block_bytes, block_bytes});

  const double width = as_double(rows::kVectorBytes / element_bytes(p));
  const double elements = as_double(p[rows::kRows]) * as_double(p[rows::kCols]);
  plan.total.vector_flops = elements * (each.flops + rescales * kRescaleFlops / width);
  plan.total.special_flops = elements * (each.special + rescales / width);
  plan.total.conversions = narrow(p) ? elements / 2 : 0;

  const double rows_here = as_double(layout.rows_per_block);
  const double batches = as_double(
      rows::ceil_div(std::max<std::int64_t>(1, rows::vectors_of(p[rows::kCols], element_bytes(p))),
                     kBatch * layout.threads));
  plan.block.steps = batches * reads;
  const double vectors = as_double(kBatch * layout.threads) * rows_here;  // a step
  Step& step = plan.block.step;
  PerElement share = each;  // of one sweep
  share.flops = (each.flops + rescales * kRescaleFlops / width) / reads;
  share.special = (each.special + rescales / width) / reads;
  share.instructions = (each.instructions + rescales * kRescaleInstructions / width) / reads;
  share.unpacked = 1;
  step = arithmetic(p, share, vectors * width);
  step.conversions /= reads;  // packed in the last sweep only
  const double accesses = vectors / kWarpLanes;
  step.instructions += accesses * (kInstructionsPerLoad + kInstructionsPerStore / reads);
  const double blocks = as_double(plan.launch.blocks());
  step.l2_bytes = plan.total.l2.total_bytes() / blocks / plan.block.steps;
  step.l1_wavefronts = step.l1_lookups =
      plan.total.l1.total_bytes() / blocks / plan.block.steps / as_double(kLineBytes);
  step.global_round_trips = 1;
  step.dependent_fmas = as_double(kBatch) * width;
  const double merges = rescales > 0 ? 1 : 2;
  const bool alone = layout.threads == rows::kWarp;
  const double warps = as_double(layout.threads * layout.rows_per_block / rows::kWarp);
  Step& once = plan.block.once;
  once.instructions =
      warps * (kInstructionsPerThread + (alone ? 0 : merges * kInstructionsPerMerge));
  once.shared_round_trips = merges * (alone ? 1 : 2) * kShufflesOfWarp;
  once.barriers = alone ? 0 : merges;
  once.shared_wavefronts = alone ? 0 : merges * 2 * warps;
  plan.total.shared_bytes = once.shared_wavefronts * as_double(kLineBytes) * blocks;
  plan.caveat = "instructions are estimated from the PTX";
  return plan;
}

Plans plan_three_pass(const Problem& p, const Gpu& gpu) {
  return {plan_sweeps(p, gpu, 3, kThreePass, 0, registers_of(p.dtype).three_pass, 2)};
}
Plans plan_online(const Problem& p, const Gpu& gpu) {
  return {plan_sweeps(p, gpu, 2, kOnline, 1, registers_of(p.dtype).online, 1)};
}

constexpr std::array kSweepParameters = {
    rows::kShape[0], rows::kShape[1],
    setting("threads", "threads of a row: a block, or with 32 a warp", 32, 1024, 256)};
constexpr std::array kRegistersParameters = {
    rows::kShape[0], rows::kShape[1],
    setting("vectors", "16-byte accesses a thread holds: 1, 2, 4, 8; 0: by the row length", 0, 8,
            0)};
constexpr std::array kClusterParameters = {
    rows::kShape[0], rows::kShape[1],
    setting("cluster", "blocks that share a row: 1, 2, 4, 8, 16; 0: by the row length", 0, 16, 0),
    setting("rows_per_cluster", "rows a block takes one after the other; 0: by the shape", 0, 65536,
            0),
    setting("stages", "rows for which a block has buffers; 0: 1", 0, 32, 0)};

constexpr std::array<KernelModel, 5> kVariants = {{
    {"softmax.three_pass", "maximum, sum, normalize: three sweeps over the row", kSweepParameters,
     kTypes, plan_three_pass},
    {"softmax.online", "maximum and sum in one sweep, then normalize", kSweepParameters, kTypes,
     plan_online},
    {"softmax.registers", "the row in registers: read once", kRegistersParameters, kTypes,
     plan_registers},
    {"softmax.cluster",
     "rows stream through the shared memory of a thread-block cluster: read once",
     kClusterParameters, kTypes, plan_cluster},
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

IoComplexity io(const Problem& /*problem*/, double compulsory_bytes, double on_chip_bytes) {
  return streaming_io(compulsory_bytes, on_chip_bytes);
}

}  // namespace

constinit const KernelFamily kFamily = {
    "softmax", "y[r,c] = e^x[r,c] / Σ e^x[r,·]", rows::kShape, kTypes, work, io, kVariants,
    kValidated};

}  // namespace roofcast::softmax
