#pragma once
#include <span>
#include <vector>

#include "model/laws/l1_reuse.hpp"
#include "model/types/gpu.hpp"
#include "model/types/plan.hpp"
#include "model/types/prediction.hpp"
#include "model/types/work.hpp"

namespace roofcast {

/// Who reads each byte: one SM, or SMs of all of L2's partitions.
enum class Readers : unsigned char { one, all };

/// miss_share of L2. Its capacity is l2_resident_share of its bytes ÷ copies; p partitions hold p
/// copies of data that all SMs read, 2 − 1/p of data that one SM reads.
double l2_miss_share(double distance_bytes, Readers readers, const Gpu& gpu);

/// Distinct operand bytes of each wave, summed over the waves: blocks of a wave read in step and
/// wait for these alone.
double distinct_wave_bytes(const TileRaster& raster, std::int64_t resident_blocks);

/// An array that an earlier launch may have left in L2.
struct InterLaunchReuse {
  Traffic bytes;
  double distance_bytes = 0;  ///< reuse distance: bytes through L2 since then
  bool from_before = false;   ///< left by a launch before this sequence
};

/// The last launch before `position` that uses the array.
std::optional<std::size_t> last_user(const LaunchSequence& sequence, std::size_t position,
                                     ArrayId array);

/// The arrays that may be in L2 when launch `position` starts: those used earlier in the sequence;
/// unless cold, those that return (returns_after_bytes; if `repeated`, all); if warm, activations,
/// as if computed right before the sequence. Reuse distance of an array that does not return:
/// touched_bytes of the launches since its last use.
std::vector<InterLaunchReuse> inter_launch_reuse(const LaunchSequence& sequence,
                                                 std::size_t position,
                                                 CacheState cache = CacheState::cold);

/// Traffic of one launch below L1. `dram` includes writes that stay dirty in L2 at the end.
struct LaunchMemory {
  Traffic l2;
  Traffic dram;
  /// Share of first_access_s that the launch waits for new data: cold L2 and address translations.
  double new_share = 0;
  double warm_bytes = 0;   ///< L2 hits on data from before the sequence
  double early_bytes = 0;  ///< sectors evicted from L2 while incomplete
  L1Misses misses{};
};

/// Bytes of sectors that L2 evicts while incomplete: open_write_bytes · (1 − exp(−d ÷ C)), with d
/// the traffic through L2 meanwhile and C the resident capacity. Each is written to DRAM, then read
/// back and merged when its next part arrives.
double written_back_early_bytes(const Plan& plan, const Occupancy& occupancy, const Gpu& gpu);

/// Bytes between L2 and DRAM for one launch, all writes included. `earlier`: arrays that earlier
/// launches left in L2; `memory`: the launch's L1 misses and early sectors.
Traffic dram_traffic(const Plan& plan, const Occupancy& occupancy,
                     std::span<const InterLaunchReuse> earlier, const LaunchMemory& memory,
                     const Gpu& gpu);

/// Share of `dram` that misses L2 if back-to-back launches cycle through 2 to 4096 sets of arrays
/// that together exceed three times L2 (validation/harness/bench.cpp). L2 keeps part of a set if a
/// launch touches little of its arrays, as a gather does, or if 4096 sets are smaller.
double lost_between_rounds(const Plan& plan, const Traffic& dram, const Gpu& gpu);

/// Writes of `dram` still dirty in L2 when the kernel ends: l2_dirty_share of L2 holds the last
/// traffic, reads and writes in proportion.
double left_dirty_bytes(const Traffic& dram, const Gpu& gpu);

/// The traffic of launch `position` of a sequence that starts with L2 in the state `cache`.
LaunchMemory launch_memory(const LaunchSequence& sequence, std::size_t position,
                           const Occupancy& occupancy, CacheState cache, const Gpu& gpu);

}  // namespace roofcast
