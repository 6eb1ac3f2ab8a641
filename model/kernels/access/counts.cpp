#include "model/kernels/access/counts.hpp"

#include <string>

namespace roofcast::access {

Plan one_access_a_thread(const Grid& grid, const Traffic& requested, const Counts& counts) {
  Plan plan;
  plan.launch.grid = grid.blocks;
  plan.launch.block = grid.threads;
  const double parts = 1 / grid.share_of_full_block;
  const double stored = counts.store_sectors * kSectorBytes;
  Step step;
  step.issued.requested = shared_by(requested, parts);
  step.issued.l1 = shared_by({counts.l1_load_sectors * kSectorBytes, stored}, parts);
  step.issued.l2 = shared_by({counts.l2_load_sectors * kSectorBytes, stored}, parts);
  step.warp_instructions = warps_of(plan.launch.threads()) * counts.warp_instructions;
  step.wavefronts = {
      .shared = 0, .l1 = counts.wavefronts / parts, .l1_lookups = counts.lookups / parts};
  step.waits.global = 1;
  set_blocks_with_edge(plan, step, grid.share_of_full_block);
  return plan;
}

Plan one_access_a_thread(std::int64_t threads, const Traffic& requested, const Counts& counts) {
  return one_access_a_thread(
      {.blocks = {ceil_div(threads, kThreads), 1, 1},
       .threads = {kThreads, 1, 1},
       .share_of_full_block = as_double(kThreads) / as_double(std::max(kThreads, threads))},
      requested, counts);
}

void require_multiple(std::string_view what, std::int64_t value, std::int64_t of) {
  if (value % of != 0) {
    throw InputError(std::string(what) + " is " + std::to_string(value) +
                     ": give a multiple of width, " + std::to_string(of));
  }
}

double units_of_warps(WarpAccess access, std::int64_t accesses, std::int64_t unit_bytes) {
  access.lanes = kWarpLanes;
  double sum = as_double(accesses / kWarpLanes) * as_double(distinct_units(access, unit_bytes));
  access.lanes = accesses % kWarpLanes;
  if (access.lanes > 0) sum += as_double(distinct_units(access, unit_bytes));
  return sum;
}

BlockLoads block_loads(std::span<const std::int64_t> starts, std::int64_t access_bytes) {
  BlockLoads loads;
  for (std::size_t first = 0; first < starts.size(); first += kWarpLanes) {
    const auto warp =
        starts.subspan(first, std::min<std::size_t>(kWarpLanes, starts.size() - first));
    loads.l1_sectors += as_double(distinct_units(warp, access_bytes, kSectorBytes));
    loads.lines += as_double(distinct_units(warp, access_bytes, kLineBytes));
    loads.wavefronts += as_double(shared_wavefronts(warp, access_bytes));
  }
  loads.l2_sectors = as_double(distinct_units(starts, access_bytes, kSectorBytes));
  return loads;
}

}  // namespace roofcast::access
