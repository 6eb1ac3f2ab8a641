#pragma once
#include "model/types/gpu.hpp"
#include "model/types/plan.hpp"
#include "model/types/prediction.hpp"

namespace roofcast {

/// Share of accesses that miss an L1 of `capacity_bytes` when the same data comes round again after
/// `distance_bytes`: none up to the capacity, all from 1.5 times it on, linear between. Cyclic use
/// of more than a cache holds, replaced in order of age, finds nothing again; caches that are no
/// perfect LRU fall off over half their size, as L2 does (l2_reuse.hpp).
double l1_miss_share(double distance_bytes, double capacity_bytes);

/// What crosses between the SMs and L2 for one launch: what leaves the blocks, less what L1 answers.
Traffic l2_traffic(const Plan& plan, const Occupancy& occupancy, const Gpu& gpu);

/// The least of that: L1 answers every repeat.
Traffic least_l2_traffic(const Plan& plan, const Gpu& gpu);

/// Bytes that every block takes to L2 for later passes over data of its own.
double l1_missed_bytes(const Reuse& reuse, const Plan& plan, const Occupancy& occupancy,
                       const Gpu& gpu);

/// Share of the parts of split writes that reach L2 one by one: L1 joins those that follow at once,
/// and of some kilobytes at a time. The blocks of a persistent launch store together.
double parts_apart_share(const SplitWrites& split, const Plan& plan, const Occupancy& occupancy,
                         const Gpu& gpu);

/// Sectors of a table that L1 does not answer, whole launch.
double l1_missed_sectors(const RandomReads& reads, const Plan& plan, const Occupancy& occupancy,
                         const Gpu& gpu);

}  // namespace roofcast
