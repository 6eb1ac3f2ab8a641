#pragma once
#include <vector>

#include "model/types/gpu.hpp"
#include "model/types/plan.hpp"
#include "model/types/prediction.hpp"

namespace roofcast {

/// Share of accesses that miss an L1 of `capacity_bytes` when the same data comes round again after
/// `distance_bytes`: none up to the capacity, all beyond it by l1_gradual_eviction, linear between.
/// Cyclic use of more than a cache holds, replaced in order of age, finds nothing again; caches
/// that are no perfect LRU fall off gradually.
double l1_miss_share(double distance_bytes, double capacity_bytes);

/// Bytes of one launch that L1 does not answer.
struct L1Misses {
  /// Misses of one array of the plan.
  struct OfArray {
    double random_sectors = 0;  ///< of a table, whole launch
    /// Share of the parts of split writes that reach L2 one by one: L1 joins those that follow at
    /// once, and of some kilobytes at a time.
    double parts_apart = 0;
  };
  std::vector<double> reuse_bytes;  ///< of each of Plan::reuse: what blocks take to L2 once more
  std::vector<OfArray> arrays;      ///< of each of Plan::arrays
};
L1Misses l1_misses(const Plan& plan, const Occupancy& occupancy, const Gpu& gpu);

/// What crosses between the SMs and L2 for one launch: what leaves the blocks, less what L1
/// answers.
Traffic l2_traffic(const Plan& plan, const L1Misses& misses);

/// The least reads of that: L1 answers every repeat.
Traffic least_l2_traffic(const Plan& plan, const Gpu& gpu);

}  // namespace roofcast
