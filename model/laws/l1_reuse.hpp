#pragma once
#include <vector>

#include "model/types/gpu.hpp"
#include "model/types/plan.hpp"
#include "model/types/prediction.hpp"

namespace roofcast {

/// Miss rate of a cache of C bytes at a reuse distance of `distance_bytes`: 0 up to C, 1 from
/// (1 + gradual) · C on, linear between. An LRU cache never hits cyclic reuse beyond its capacity;
/// other caches degrade gradually.
double miss_share(double distance_bytes, double capacity_bytes, double gradual);

/// L1 misses of one launch.
struct L1Misses {
  std::vector<double> reuse_bytes;     ///< for each of Plan::reuse: bytes read from L2
  std::vector<double> random_sectors;  ///< for each of Plan::arrays: of its random reads
};
L1Misses l1_misses(const Plan& plan, const Occupancy& occupancy, const Gpu& gpu);

/// Bytes between the SMs and L2 for one launch: issued bytes less L1 hits, plus the parts of split
/// writes that L1 does not merge.
Traffic l2_traffic(const Plan& plan, const L1Misses& misses);

/// Lower bound of the reads in l2_traffic: each repeat hits in L1.
Traffic least_l2_traffic(const Plan& plan, const Gpu& gpu);

}  // namespace roofcast
