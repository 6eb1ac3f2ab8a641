#include "model/kernels/softmax/softmax.hpp"

#include <algorithm>
#include <array>

#include "model/counting/coalescing.hpp"
#include "model/kernels/common/plan_parts.hpp"
#include "model/libraries/rows.hpp"

namespace roofcast::softmax {
namespace {

// Arithmetic of an element, counted in the kernels' source. A maximum counts as no FLOP, as in the
// hardware counters; e^x is a product with log2 e and one special function.
constexpr Work kHeld{.vector_flops = 4, .special_flops = 1};  // max | - ·log2e exp + | ·scale
// ·log2e + exp, where exponentials are not kept
constexpr Work kRingAgain{.vector_flops = 2, .special_flops = 1};
// max | - ·log2e exp + | - ·log2e exp ·scale
constexpr Work kSwept{.vector_flops = 6, .special_flops = 2};

// Operations of the last sweep on an element inside the row: x - max, · log2e, exp, · scale.
constexpr double kOperationsOfResult = 4;

// Chains of dependent operations, in latencies of a multiply-add.
// Merging: one a shuffle, and the exponential that rescales a sum: product, ex2 (four), product.
constexpr double kDependentOfMerge = 16;
// Rescaling a running sum: test of the maximum (3), difference (1), product and exponential (5),
// product (1), addition of the first exponential (4).
constexpr double kDependentOfRescale = 14;
// A batch of loads: addresses and tests, and the unpacking or the exponentials of its first vector.
constexpr double kDependentOfBatch = 15;

// The compiler splits a thread's 16-byte store into four, by the counters of all but cluster.
constexpr double kStoreParts = 4;

// Sets the arrays x and y and the useful arithmetic.
void set_arrays(Plan& plan, const rows::Matrix& x, const Work& each) {
  plan.useful = x.elements * each;
  plan.arrays = {reads_activation(0, x.bytes), writes(1, x.bytes)};
  if (x.accessed > x.bytes) {
    plan.notes.traffic_reasons.push_back(
        {Level::l1, "rows that do not begin on a sector: warps share the sector between them"});
  }
}

// Three sweeps over the row, for maximum, sum and result; online two, the first of which rescales
// the sum as the maximum grows. Between sweeps warps merge their partial results.
template <bool kOnline>
LaunchSequence plan_sweeps(const Problem& p, const Gpu& /*gpu*/) {
  constexpr std::int64_t kBatch = 4;  // accesses of a thread in flight together: row_sweep.cuh
  constexpr double kReads = kOnline ? 2 : 3, kMerges = kReads - 1;
  require(p[kThreads] % rows::kWarp == 0, "threads is ", p[kThreads], ": give a multiple of 32");
  const compiled::Kernel kernel = compiled::kernel(
      kOnline ? "softmax::online_kernel" : "softmax::three_pass_kernel", p.dtype, true);
  rows::Layout layout = sweep_layout(p);
  layout.vectors = 0;  // nothing is held
  Plan plan = rows::plan_of(layout, layout.blocks(p[rows::kRows]), kernel.registers,
                            static_cast<std::int64_t>(kMerges) * rows::kWarp * 8);
  const rows::Matrix x = rows::matrix_of(p, layout);
  const Work each = rows::with_conversions(p, kSwept);
  set_arrays(plan, x, each);
  plan.arrays.back().split = rows::split_stores(x, kStoreParts);

  // Between two uses of a row each resident block sweeps once; one in kReads sweeps also writes.
  const double rows_here = as_double(layout.rows_per_block);
  const double between = (1 + 1 / kReads) * x.row_bytes * rows_here;
  plan.reuse = {{.scope = Scope::block,
                 .bytes = kMerges * x.distinct,
                 .distance_bytes = between,
                 .l2_distance_bytes = between}};

  const std::int64_t vectors = rows::vectors_of(p);
  const std::int64_t sweep = ceil_div(vectors, kBatch * layout.threads);
  // A warp whose first access of a batch lies beyond the row skips the batch.
  const std::int64_t last = vectors - (sweep - 1) * kBatch * layout.threads;
  const double entered =
      rows_here * as_double((sweep - 1) * layout.threads / rows::kWarp +
                            ceil_div(std::min(last, layout.threads), rows::kWarp));
  const double batches = as_double(sweep) * kReads;
  // The loops of the sweeps, and between them the loops that merge warps.
  const auto& loops = kernel.loops;
  const double sweeps = loops[0] + loops[2] + loops[4], merging = loops[1] + loops[3];
  const double beyond = rows::access_instructions(p, kOperationsOfResult, 1);
  Step batch;
  batch.issued =
      x.inside / batches * kWarpLanes * x.width * each +
      1 / (as_double(plan.launch.blocks()) * batches) * rows::traffic_of(x, kReads, kStoreParts);
  batch.warp_instructions =
      (entered * sweeps - (entered * as_double(kBatch) - x.inside) * beyond) / batches;
  batch.wavefronts.l1 = batch.wavefronts.l1_lookups = batch.issued.l1.total_bytes() / kLineBytes;
  // Maximum and sum are chains over elements, rescaling over vectors; the last sweep has none.
  const double of_vector = 2 * x.width + (kOnline ? kDependentOfRescale : 0);
  batch.waits = {.global = 1,
                 .arithmetic = as_double(kBatch) * of_vector / kReads + kDependentOfBatch};

  const bool alone = layout.is_of_warps();
  const double warps = as_double(layout.warps());
  Step merge;
  merge.warp_instructions =
      warps * (kernel.straight + (alone ? 0 : merging + kMerges * rows::kInstructionsOfMerge));
  merge.waits = {
      .shared = kMerges * (alone ? 1 : 2) * rows::kShufflesOfWarp,
      .arithmetic = kMerges * (alone ? 1 : 2) * kDependentOfMerge + rows::kDependentOfEnds,
      .barriers = alone ? 0 : kMerges};
  set_blocks(plan, {{batch, batches}, {merge}});
  return launch_of(std::move(plan));
}

LaunchSequence plan_registers(const Problem& p, const Gpu& /*gpu*/) {
  rows::check_chosen({p[kVectors]});
  const rows::Layout layout = registers_layout(p);
  rows::check_vectors(layout.vectors, rows::most_vectors(p.dtype));
  require(layout.threads <= rows::kMaxThreads, "a row of ", p[rows::kCols],
          " elements does not fit the registers of one block: use softmax.cluster or "
          "softmax.online");
  const compiled::Kernel kernel = compiled::kernel("softmax::held_kernel", p.dtype, layout.vectors);
  Plan plan =
      rows::plan_of(layout, layout.blocks(p[rows::kRows]), kernel.registers, rows::kWarp * 8);
  const rows::Matrix x = rows::matrix_of(p, layout);
  const Work each = rows::with_conversions(p, kHeld);
  set_arrays(plan, x, each);
  const bool alone = layout.is_of_warps();
  // The path that kernel.straight counts skips the stores, with the scaling of their elements.
  const double stored = rows::access_instructions(p, 1, 0);
  rows::set_rows(
      plan, {.matrix = x,
             .instructions = {.row = kernel.straight + as_double(layout.vectors) * stored +
                                     (alone ? 0 : kernel.loops[0] + rows::kInstructionsOfMerge),
                              .beyond = stored},
             .each = each,
             .parts = kStoreParts,
             .round_trips = 1});
  return launch_of(std::move(plan));
}

// A block streams several rows through shared memory: the next are loaded while one is reduced.
LaunchSequence plan_cluster(const Problem& p, const Gpu& /*gpu*/) {
  rows::check_chosen({p[kCluster], p[kRowsPerCluster]});
  const rows::Layout layout = cluster_layout(p);
  const bool clustered = layout.cluster > 1, again = rows::has_16_bits(p);
  rows::check_cluster(layout.cluster);
  require(layout.threads <= kRingThreads, "a row of ", p[rows::kCols],
          " elements is more than 64 KB for each of ", layout.cluster,
          " blocks: use a larger cluster or softmax.online");
  const std::int64_t ring = rows::ring_bytes(layout, p[kStages], 1);
  const compiled::Kernel kernel = compiled::kernel("softmax::ring_kernel", p.dtype, clustered);
  Plan plan = rows::plan_of(layout, layout.blocks(p[rows::kRows]), kernel.registers,
                            ring + rows::exchange_bytes(kRingThreads, clustered));
  plan.on_chip_bytes += as_double(ring);
  const rows::Matrix x = rows::matrix_of(p, layout);
  const Work each = rows::with_conversions(p, kHeld), recomputed = again ? kRingAgain : Work{};
  set_arrays(plan, x, each + recomputed);
  const double in_row = x.inside / as_double(layout.warps() * layout.vectors);
  // Two loops set up and fill the buffers, one an iteration. Each iteration of the last loop is a
  // row, which merges partial results in a loop as held_kernel does.
  const auto& loops = kernel.loops;
  const compiled::Kernel held = compiled::kernel("softmax::held_kernel", p.dtype, 1);
  rows::set_rows(
      plan,
      {.matrix = x,
       .instructions = {.row = loops[5] + held.loops[0],
                        .beyond = rows::access_instructions(p, again ? 2 : 1, again ? 1 : 0),
                        .start = kernel.straight + as_double(p[kStages]) * (loops[2] + loops[4])},
       .streams = true,
       .each = each + in_row * recomputed,
       // A row is held in registers, so all stages hold the next rows.
       .ahead = as_double(p[kStages])});
  return launch_of(std::move(plan));
}

std::vector<Problem> registers_candidates(const Problem& p, const Gpu& /*gpu*/) {
  return rows::with_each(
      {p}, kVectors, [](const Problem& one) { return rows::held_vectors(one, rows::kMaxThreads); });
}

std::vector<Problem> cluster_candidates(const Problem& p, const Gpu& gpu) {
  const auto smallest = [](const Problem& one) {
    return rows::cluster_for(rows::row_bytes(one), kSliceBytes);
  };
  return rows::with_clusters({p}, kCluster, smallest, gpu);
}

constexpr std::array kSweepParameters =
    with_own(rows::kShape,
             setting("threads", "threads of a row: a block, or with 32 a warp", 32, 1024, 256));
constexpr std::array kRegistersParameters = with_own(
    rows::kShape,
    open_setting("vectors", "16-byte accesses a thread holds: 1, 2, 4, 8; 0: the fastest", 8));
constexpr std::array kClusterParameters = with_own(
    rows::kShape,
    open_setting("cluster", "blocks that share a row: 1, 2, 4, 8, 16; 0: the fastest", 16),
    open_setting("rows_per_cluster",
                 "rows a block takes one after the other; 0: the fastest of 1 to 16", 65536),
    setting("stages", "rows for which a block has buffers", 1, 32, 1));

constexpr std::array<KernelModel, 5> kVariants = {{
    {"softmax.three_pass", "maximum, sum, normalize: three sweeps over the row", kSweepParameters,
     rows::kTypes, plan_sweeps<false>},
    {"softmax.online", "maximum and sum in one sweep, then normalize", kSweepParameters,
     rows::kTypes, plan_sweeps<true>},
    {"softmax.registers", "the row in registers: read once", kRegistersParameters, rows::kTypes,
     plan_registers, registers_candidates},
    {"softmax.cluster",
     "rows stream through the shared memory of a thread-block cluster: read once",
     kClusterParameters, rows::kTypes, plan_cluster, cluster_candidates},
    kLibrary,
}};

// The least work of an element: subtract, exponential, add, multiply.
Work work(const Problem& p) {
  const double elements = as_double(p[rows::kRows]) * as_double(p[rows::kCols]);
  const double bytes = elements * size_bytes(p.dtype);
  return {.vector_flops = 3 * elements, .special_flops = elements, .compulsory = {bytes, bytes}};
}

}  // namespace

constinit const KernelFamily kFamily = {"softmax",    "y[r,c] = e^x[r,c] / Σ e^x[r,·]",
                                        rows::kShape, rows::kTypes,
                                        kVariants,    rows::kValidated,
                                        work};

}  // namespace roofcast::softmax
