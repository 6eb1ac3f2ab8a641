#include "model/laws/l1_reuse.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "model/constants/laws.hpp"
#include "model/counting/coalescing.hpp"
#include "model/counting/integers.hpp"
#include "model/counting/totals.hpp"

namespace roofcast {
namespace {

// L1 capacity: the SM's pool, 0 if unknown, less the shared memory of the resident blocks.
double l1_capacity_bytes(const Plan& plan, double resident, const Gpu& gpu) {
  if (!gpu.occupancy || !gpu.memory.l1_shared_bytes) return 0;
  const double of_block =
      as_double(plan.launch.shared_bytes + gpu.occupancy->shared_reserved_bytes_per_block);
  return std::max(0.0, *gpu.memory.l1_shared_bytes - resident * of_block);
}

// Share of the parts of split writes that L1 does not merge: half at l1_merge_bytes written between
// two parts.
double parts_apart_share(const SplitWrites& split) {
  return 1 - std::exp2(-std::pow(split.bytes_between / law::kL1MergeBytes, 2));
}

double missed_bytes(const Reuse& reuse, const Plan& plan, double resident, double capacity_bytes,
                    const Gpu& gpu) {
  const auto missed = [&](double distance_bytes) {
    return miss_share(distance_bytes, capacity_bytes, law::kL1GradualEviction);
  };
  if (reuse.scope == Scope::block) return reuse.bytes * missed(resident * reuse.distance_bytes);
  // Each SM fetches the data once.
  const double sms = as_double(std::min(plan.launch.blocks(), gpu.slots(1)));
  const double once = std::min(reuse.bytes, sms * reuse.distinct_bytes);
  return once + (reuse.bytes - once) * missed(reuse.distance_bytes);
}

double missed_sectors(const RandomReads& reads, double capacity_bytes, const Gpu& gpu) {
  const double line = as_double(kLineBytes);
  const double sms = as_double(gpu.slots(1));
  const double sectors = std::max(1.0, reads.table_bytes / as_double(kSectorBytes));
  const double once =
      std::min(reads.sectors, sms * expected_distinct(sectors, reads.sectors / sms));
  const double hits = sector_hit_share(std::max(1.0, reads.table_bytes / line),
                                       reads.streamed_lines, capacity_bytes / line);
  return std::max(once, (1 - hits) * reads.sectors);
}

L1Misses misses_of(const Plan& plan, double resident, double capacity_bytes, const Gpu& gpu) {
  L1Misses misses;
  misses.reuse_bytes.reserve(plan.reuse.size());
  for (const Reuse& reuse : plan.reuse) {
    misses.reuse_bytes.push_back(missed_bytes(reuse, plan, resident, capacity_bytes, gpu));
  }
  misses.random_sectors.reserve(plan.arrays.size());
  for (const ArrayUse& use : plan.arrays) {
    misses.random_sectors.push_back(use.random ? missed_sectors(*use.random, capacity_bytes, gpu)
                                               : 0);
  }
  return misses;
}

}  // namespace

double miss_share(double distance_bytes, double capacity_bytes, double gradual) {
  return std::clamp((distance_bytes / std::max(1.0, capacity_bytes) - 1) / gradual, 0.0, 1.0);
}

L1Misses l1_misses(const Plan& plan, const Occupancy& occupancy, const Gpu& gpu) {
  const double resident =
      as_double(std::min(occupancy.blocks_per_sm, ceil_div(plan.launch.blocks(), gpu.slots(1))));
  return misses_of(plan, resident, l1_capacity_bytes(plan, resident, gpu), gpu);
}

Traffic l2_traffic(const Plan& plan, const L1Misses& misses) {
  Traffic l2 = issued_l2(plan);
  for (std::size_t i = 0; i < plan.reuse.size(); ++i) {
    l2.read_bytes -= plan.reuse[i].bytes - misses.reuse_bytes[i];
  }
  for (std::size_t i = 0; i < plan.arrays.size(); ++i) {
    const ArrayUse& use = plan.arrays[i];
    if (use.split) {
      l2.write_bytes += (use.split->parts - 1) * parts_apart_share(*use.split) *
                        use.split->sectors * kSectorBytes;
    }
    if (use.random) {
      l2.read_bytes -= (use.random->sectors - misses.random_sectors[i]) * kSectorBytes;
    }
  }
  return l2;
}

Traffic least_l2_traffic(const Plan& plan, const Gpu& gpu) {
  return l2_traffic(plan, misses_of(plan, 1, std::numeric_limits<double>::infinity(), gpu));
}

}  // namespace roofcast
