#include <algorithm>

#include "model/counting/coalescing.hpp"
#include "model/kernels/common/plan_parts.hpp"
#include "model/kernels/norm/norm.hpp"

namespace roofcast::norm {
namespace {

// How the backward pass runs: rows stream through shared memory, or registers hold them.
struct Backward {
  rows::Layout layout;
  std::int64_t row_blocks;  // blocks, or clusters where rows are shared
  compiled::Kernel kernel;
  std::int64_t shared_bytes;
};

compiled::Kernel held_kernel(Kind kind, const Problem& p, bool clustered) {
  return compiled::kernel("norm::backward_kernel", p.dtype, kind, rows_are_aligned(p), clustered);
}

Backward backward_of(Kind kind, const Problem& p, const Gpu& gpu) {
  const std::int64_t sms = gpu.sm_count.value_or(1);
  const bool streams = is_streamed(p);
  const rows::Layout layout = streams ? backward_ring_layout(p) : backward_layout(p);
  const bool clustered = layout.cluster > 1;
  if (!streams) {
    return {layout, backward_blocks(p, layout, sms), held_kernel(kind, p, clustered),
            parts_bytes(clustered)};
  }
  return {layout, backward_ring_blocks(p, sms),
          compiled::kernel("norm::backward_ring_kernel", p.dtype, kind, clustered),
          rows::ring_bytes(layout, kRingStages, 2) + rows::exchange_bytes(kMostThreads, clustered)};
}

rows::Instructions instructions_of(Kind kind, const Problem& p, const Backward& how) {
  const auto& loops = how.kernel.loops;
  const double merging =
      held_kernel(kind, p, how.layout.cluster > 1).loops[1] * rows::turns_of_merge(how.layout);
  // An access beyond the row saves dx's arithmetic and store; rings unpack x, dy and γ again.
  if (is_streamed(p)) {
    return {.row = loops[5] + merging,
            .beyond = rows::access_instructions(p, 3, 3),
            // Two loops set up and fill the buffers, one buffer an iteration.
            .start = how.kernel.straight + as_double(kRingStages) * (loops[2] + loops[4])};
  }
  // Instructions of the counted loop that no warp runs: code for diverged lanes around the ten
  // shuffles of a sum, by the counters.
  constexpr double kDiverged = 38;
  const double converged = loops[0] - counts_of(kind).parameters * kDiverged;
  return {.row = converged + (how.layout.is_of_warps() ? -rows::kInstructionsOfMerge : merging),
          .beyond = rows_are_aligned(p) ? rows::access_instructions(p, 3, 0) : 0,
          .start = how.kernel.straight};
}

// SplitWrites::bytes_between. A warp writes `stores` sectors part by part in as many rounds, and so
// does every other warp of the block meanwhile. kBytesOfStore is fitted to the shares of parts that
// L1 does not merge (law::kL1MergeBytes).
double bytes_between_parts(const rows::Layout& layout, double stores) {
  constexpr double kBytesOfStore = 2.5;
  return as_double((layout.warps() - 1) * rows::kWarp) * kBytesOfStore * stores * stores;
}

// The first launch: dx, and the partial dγ and dβ of each strip of rows.
Plan plan_rows(Kind kind, const Problem& p, const Backward& how, double partial_bytes) {
  const rows::Layout& layout = how.layout;
  const Counts counts = counts_of(kind);
  const bool streams = is_streamed(p);
  const std::int64_t strips = how.row_blocks * layout.rows_per_block;
  Plan plan = rows::plan_of(layout, how.row_blocks * layout.cluster, how.kernel.registers,
                            how.shared_bytes);
  plan.scheduler = TileScheduler::persistent;

  const rows::Matrix x = rows::matrix_of(p, layout);
  const double statistics = counts.parameters * x.rows;
  const Work each = rows::with_conversions(p, {.vector_flops = counts.backward_flops});
  plan.useful = x.elements * each;
  plan.arrays = {reads(kX, x.bytes),
                 reads_activation(kDy, x.bytes),
                 reads(kParameterArrays, x.row_bytes),
                 reads(kStatistics, 4 * statistics),
                 writes(kResult, x.bytes),
                 scratch(kPartials, {0, partial_bytes})};
  // A thread stores the sums of each vector of columns one by one.
  const double parts = x.ragged ? 1 : x.width;
  plan.arrays.back().split = {partial_bytes / kSectorBytes, parts,
                              bytes_between_parts(layout, parts * counts.parameters)};
  if (x.ragged) {
    plan.arrays[4].pattern.partial_writes =
        partial_sectors_along_rows({p[rows::kRows], p[rows::kCols], element_bytes(p.dtype)});
  }

  const double gamma = as_double(strips) * x.row_bytes;
  const double warps_a_row = as_double(layout.threads / rows::kWarp * layout.cluster);
  Work beside;
  beside.requested = {gamma + 4 * statistics * warps_a_row, partial_bytes};
  beside.l1 = {gamma + statistics * warps_a_row * kSectorBytes, parts * partial_bytes};
  beside.l2 = {gamma + statistics * kSectorBytes, partial_bytes};
  // Vectors are loaded one row ahead. Single elements, of rows off 16 bytes, are packed as they
  // arrive: their loads are waited for.
  rows::set_rows(plan, {.matrix = x,
                        .instructions = instructions_of(kind, p, how),
                        .streams = streams,
                        .each = each,
                        .reads = 2,
                        .beside = beside,
                        .round_trips = streams ? 0.0 : 1.0,
                        .ahead = streams    ? as_double(kRingStages)
                                 : x.ragged ? 0.0
                                            : 1.0});
  add_sector_reason(plan);
  return plan;
}

// The second launch: dγ and dβ from the partial sums.
Plan plan_finish(Kind kind, const Problem& p, std::int64_t strips, double partial_bytes) {
  const Counts counts = counts_of(kind);
  const compiled::Kernel kernel = compiled::kernel("norm::finish_kernel", p.dtype, kind);
  Plan plan =
      launch_plan(ceil_div(p[rows::kCols], kFinishColumns), {kFinishColumns, kFinishThreads, 1},
                  kernel.registers, kFinishThreads * (kFinishColumns + 1) * 4);
  const double out = counts.parameters * as_double(rows::row_bytes(p));
  plan.arrays = {scratch(kPartials, {partial_bytes, 0}), writes(kGradients, out)};
  // Loads beyond whole groups go one by one: half a group is taken, so that time grows with strips.
  constexpr auto kTogether = as_double(rows::PartialSums::kTogether);
  const std::int64_t loads = ceil_div(strips, kFinishThreads);
  const double trips = as_double(loads) / kTogether + std::min(as_double(loads), kTogether / 2);
  rows::set_partial_sums(plan, kernel, {loads, trips, counts.parameters}, p.dtype);
  return plan;
}

}  // namespace

LaunchSequence plan_backward(Kind kind, const Problem& p, const Gpu& gpu) {
  rows::check_chosen({p[kStaging]});
  const Backward how = backward_of(kind, p, gpu);
  check_layout(p, how.layout);
  const std::int64_t strips = how.row_blocks * how.layout.rows_per_block;
  const double partial_bytes = counts_of(kind).parameters * as_double(strips * p[rows::kCols]) * 4;
  return {{plan_rows(kind, p, how, partial_bytes)}, {plan_finish(kind, p, strips, partial_bytes)}};
}

}  // namespace roofcast::norm
