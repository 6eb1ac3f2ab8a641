#include <algorithm>
#include <cmath>

#include "model/counting/coalescing.hpp"
#include "model/kernels/norm/passes.hpp"

namespace roofcast::norm {
namespace {

/// How the backward pass runs: rows stream through shared memory, or the registers hold them.
struct Backward {
  bool streams;
  rows::Layout layout;
  std::int64_t row_blocks;  ///< blocks, or clusters
  std::int64_t registers, shared_bytes;
};

Backward backward_on(Kind kind, const Problem& p, const Gpu& gpu) {
  const std::int64_t sms = gpu.sm_count.value_or(1);
  if (p[kStaging] == kInShared) {
    check_streams(p);
    const rows::Layout layout = backward_ring_layout(p);
    const bool clustered = layout.cluster > 1;
    return {
        true, layout, backward_ring_blocks(p, sms),
        compiled::registers("norm::backward_ring_kernel", p.dtype, kind, clustered),
        rows::ring_bytes(layout, kRingStages, 2) + rows::exchange_bytes(kMostThreads, clustered)};
  }
  const rows::Layout layout = backward_layout(p);
  const bool clustered = layout.cluster > 1;
  const bool ragged = p[rows::kCols] * element_bytes(p) % rows::kVectorBytes != 0;
  const std::int64_t parts = kMostThreads / rows::kWarp * (clustered ? rows::kMaxCluster : 1);
  return {false, layout, backward_blocks(p, layout, sms),
          compiled::registers("norm::backward_kernel", p.dtype, kind, !ragged, clustered),
          2 * parts * 8};
}

// A thread stores its sums one by one, each a part of another sector. While a warp makes its
// `stores`, each of the block's others opens as many sectors. Few or all parts come apart: of 3
// warps and 8 stores 6%, of 4 and 8 58%, of 9 and 4 7%, of 16 and 4 44%, of 2 and 16 85%, of 4 and
// 16 95%.
double bytes_between_parts(const rows::Layout& layout, double stores) {
  constexpr double kBytesOfStore = 2.5;
  const std::int64_t others = layout.threads * layout.rows_per_block - rows::kWarp;
  return as_double(others) * kBytesOfStore * stores * stores;
}

// A barrier of a cluster waits for the loads and stores that are under way.
bool held_in_cluster(const Backward& backward) {
  return backward.layout.cluster > 1 && !backward.streams;
}

// A warp has a row for itself.
bool warp_alone(const rows::Layout& layout) {
  return layout.threads == rows::kWarp && layout.cluster == 1;
}

// Of a row. Vectors are loaded one row ahead.
Waits waits_of_row(const Backward& backward, bool ragged, std::int64_t element) {
  const rows::Layout& layout = backward.layout;
  const bool clustered = layout.cluster > 1, alone = warp_alone(layout);
  return {.global = backward.streams                      ? 0.0
                    : held_in_cluster(backward) && ragged ? 2.0
                                                          : 1.0,
          .tile_loads = backward.streams ? 1.0 : 0.0,
          .shared = (alone ? 1 : 2) * kShufflesOfWarp,
          .arithmetic = as_double(layout.vectors * rows::kVectorBytes / element) * 2,
          .barriers = alone || clustered ? 0.0 : 1.0,
          .cluster_exchanges = !clustered         ? 0.0
                               : backward.streams ? 1.0
                                                  : kExchangesOfBarrier};
}

// dx, and the strips' partial dγ and dβ.
Plan plan_rows(Kind kind, const Problem& p, const Backward& backward, double partial_bytes) {
  const rows::Layout& layout = backward.layout;
  const Counts& counts = counts_of(kind);
  const std::int64_t row_blocks = backward.row_blocks;
  const bool clustered = layout.cluster > 1;
  const bool ragged = p[rows::kCols] * element_bytes(p) % rows::kVectorBytes != 0;
  Plan plan = rows::plan_of(layout, row_blocks * layout.rows_per_block, backward.registers,
                            backward.shared_bytes);
  plan.scheduler = TileScheduler::persistent;
  if (backward.streams) plan.needs = {Instruction::bulk_copy};

  const double row_count = as_double(p[rows::kRows]);
  const double row_bytes = as_double(p[rows::kCols] * element_bytes(p));
  const double x_bytes = row_count * row_bytes;
  const double elements = row_count * as_double(p[rows::kCols]);
  const double statistics = counts.statistics * row_count;
  plan.useful.vector_flops = counts.backward_flops * elements;
  plan.useful.conversions = narrow(p) ? elements / 2 : 0;
  plan.arrays = {reads(kX, x_bytes),
                 reads_activation(kDy, x_bytes),
                 reads(kParameterArrays, row_bytes),
                 reads(kStatistics, 4 * statistics),
                 writes(kResult, x_bytes),
                 scratch(kPartials, {0, partial_bytes})};
  // A thread stores the sums of each vector of columns one by one.
  const double parts = ragged ? 1 : as_double(rows::kVectorBytes / element_bytes(p));
  plan.arrays.back().split = {partial_bytes / kSectorBytes, parts,
                              bytes_between_parts(layout, parts * counts.parameters)};

  const double gamma = as_double(row_blocks * layout.rows_per_block) * row_bytes;
  const double warps = as_double(layout.threads * layout.rows_per_block / rows::kWarp);
  const double warps_a_row = as_double(layout.threads / rows::kWarp * layout.cluster);
  // As vectors, or single elements of neighbouring threads: both whole sectors but at the ends.
  const rows::Sectors sectors =
      rows::sectors_of(p[rows::kRows], p[rows::kCols], element_bytes(p), layout);
  const double accessed = sectors.accessed * kSectorBytes;
  const DenseMatrix matrix{p[rows::kRows], p[rows::kCols], element_bytes(p)};
  const double stored = ragged ? sectors_along_rows(matrix) * kSectorBytes : accessed;
  if (ragged) plan.arrays[4].pattern.partial_writes = partial_sectors_along_rows(matrix);
  const double slots = plan.on_chip_bytes / as_double(element_bytes(p));
  const bool alone = warp_alone(layout);
  const double rows_of_block =
      as_double(rows::ceil_div(p[rows::kRows], row_blocks * layout.rows_per_block));
  const double steps = as_double(plan.launch.blocks()) * rows_of_block;
  Step row;
  row.issued.vector_flops = slots * counts.backward_flops;
  row.issued.conversions = narrow(p) ? slots / 2 : 0;
  row.issued.requested = shared_by(
      {2 * x_bytes + gamma + 4 * statistics * warps_a_row, x_bytes + partial_bytes}, steps);
  row.issued.l1 = shared_by({2 * accessed + gamma + statistics * warps_a_row * kSectorBytes,
                             stored + parts * partial_bytes},
                            steps);
  row.issued.l2 = shared_by({2 * sectors.distinct * kSectorBytes + gamma +
                                 statistics * as_double(layout.cluster) * kSectorBytes,
                             stored + partial_bytes},
                            steps);
  const double width = ragged ? as_double(rows::kVectorBytes / element_bytes(p)) : 1;
  const rows::Instructions& counted = instructions_of(backward.streams ? Form::backward_streamed
                                                      : ragged         ? Form::backward_by_element
                                                                       : Form::backward,
                                                      kind, p);
  const double inside = width * rows::accesses_inside(p[rows::kCols], element_bytes(p), layout);
  const double accesses = width * warps * as_double(layout.vectors);
  row.warp_instructions =
      rows::instructions_of_row(counted, inside, accesses, warps, alone ? 0 : 1);
  // Bulk copies go past L1's lookup into shared memory, from where they are read once more.
  const double streamed = backward.streams ? 2 * accessed / steps : 0;
  row.wavefronts.l1 = row.wavefronts.l1_lookups =
      (row.issued.l1.total_bytes() - streamed) / as_double(kLineBytes);
  row.wavefronts.shared = (alone ? 0 : warps * as_double(layout.cluster) + 2 * warps) +
                          2 * streamed / as_double(kLineBytes);
  row.issued.shared_bytes = row.wavefronts.shared * as_double(kLineBytes);
  row.waits = waits_of_row(backward, ragged, element_bytes(p));
  Step start;
  start.waits.global = backward.streams ? 0 : 1;
  start.waits.tile_loads = backward.streams ? rows::kLoadsOfStart : 0;
  start.waits.cluster_exchanges = clustered ? rows::kExchangesOfStart : 0;
  start.warp_instructions = warps * counted.start;
  const double ahead = backward.streams                      ? as_double(kRingStages)
                       : ragged || held_in_cluster(backward) ? 0
                                                             : 1;
  set_blocks(plan, {{start}, {row, rows_of_block, ahead}});
  add_sector_reason(plan);
  return plan;
}

// dγ and dβ from the partial sums.
Plan plan_finish(Kind kind, const Problem& p, double strips, double partial_bytes) {
  const Counts& counts = counts_of(kind);
  Plan plan;
  plan.launch.grid[0] = rows::ceil_div(p[rows::kCols], kFinishColumns);
  plan.launch.block = {kFinishColumns, kFinishThreads, 1};
  const compiled::Kernel kernel = compiled::kernel("norm::finish_kernel", p.dtype, kind);
  plan.launch.registers = kernel.registers;
  plan.start = Start::cold_code;
  plan.launch.shared_bytes = kFinishThreads * (kFinishColumns + 1) * 4;
  const double out = counts.parameters * as_double(p[rows::kCols] * element_bytes(p));
  plan.useful.vector_flops = partial_bytes / 4;
  plan.arrays = {scratch(kPartials, {partial_bytes, 0}), writes(kGradients, out)};
  const double blocks = as_double(plan.launch.blocks());
  const double loads = counts.parameters * strips / as_double(kFinishThreads);  // a thread
  // Eight loads together, what is left one after the other: half of eight on average.
  constexpr double kUnrolled = 8;
  const double turns = std::ceil(strips / as_double(kFinishThreads));
  const double round_trips = turns / kUnrolled + std::min(turns, kUnrolled / 2);
  const double warps = as_double(kFinishThreads);
  Step step;
  step.issued.vector_flops = partial_bytes / 4 / blocks;
  set_traffic(step.issued, shared_by({partial_bytes, out}, blocks));
  const double eights = std::floor(turns / kUnrolled), ones = turns - eights * kUnrolled;
  step.warp_instructions = warps * (kernel.straight + ones * (kernel.loops[0] + kernel.loops[2]) +
                                    eights * (kernel.loops[1] + kernel.loops[3]));
  step.wavefronts.l1 = step.wavefronts.l1_lookups = warps * loads;
  step.waits = {.global = counts.parameters * round_trips,
                .shared = counts.parameters * 6,
                .arithmetic = loads,
                .barriers = counts.parameters * 2};
  set_blocks(plan, {{step}});
  return plan;
}

}  // namespace

LaunchSequence plan_backward(Kind kind, const Problem& p, const Gpu& gpu) {
  rows::check_chosen({p[kStaging]});
  const Backward how = backward_on(kind, p, gpu);
  check_layout(p, how.layout, how.layout.vectors);
  const double strips = as_double(how.row_blocks * how.layout.rows_per_block);
  const double partial_bytes = counts_of(kind).parameters * strips * as_double(p[rows::kCols]) * 4;
  return {{plan_rows(kind, p, how, partial_bytes)}, {plan_finish(kind, p, strips, partial_bytes)}};
}

}  // namespace roofcast::norm
