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

/// Share of accesses that miss L2 when the same data comes round again after `distance_bytes` of
/// other data: none up to the capacity C, all from (1 + l2_gradual_eviction)·C on, linear between.
/// C is l2_resident_share of L2's bytes ÷ copies: with p partitions p copies of what all read, and
/// 2 - 1/p of what one SM reads.
double l2_miss_share(double distance_bytes, Readers readers, const Gpu& gpu);

/// Operand bytes that the waves of a raster touch, each wave's once: what blocks that read in step
/// wait for.
double distinct_wave_bytes(const TileRaster& raster, std::int64_t resident_blocks);

/// Bytes of all arrays of these launches: what has to be allocated if none takes another's place.
double memory_bytes(std::span<const Launched> launches);

/// Bytes of one array that an earlier launch of the program may have left in L2.
struct ChainReuse {
  Traffic bytes;
  double distance_bytes = 0;  ///< what went through L2 since
  bool from_before = false;   ///< computed by an earlier kernel, which is not the program's
};

/// Whether a node before `position` uses the array.
bool used_before(const LaunchSequence& program, std::size_t position, ArrayId array);

/// Of each array of node `position` that an earlier node used; where the program starts warm also
/// of its activation, of which an earlier kernel then is taken for a node before the first. All
/// arrays of the last user, of this node and of those between go through L2 before it comes round.
std::vector<ChainReuse> chain_reuse(const LaunchSequence& program, std::size_t position,
                                    CacheState cache = CacheState::cold);

/// What one launch of a program moves below L1, each written byte counted; the program starts with
/// L2 in the state `cache`.
struct LaunchMemory {
  Traffic l2;
  Traffic dram;
  double new_share = 0;  ///< of its first reads, for which L2 and the address translations are cold
  bool back_to_back = false;  ///< equal launches went before, back to back
  double warm_bytes = 0;      ///< found in L2, computed by a kernel before the program
  double early_bytes = 0;     ///< of sectors driven out of L2 before they were complete
  L1Misses misses{};
};

/// Bytes of sectors that are incomplete when they are driven out of L2: the chance grows with what
/// goes through it meanwhile. Each has to be read, merged and written, and its next part opens it
/// again.
double written_back_early_bytes(const Plan& plan, const Occupancy& occupancy, const Gpu& gpu);

/// What crosses between L2 and DRAM for one launch, each written byte counted. `chain`: what
/// earlier launches left in L2; `memory`: its L1 misses and early sectors.
Traffic dram_traffic(const Plan& plan, const Occupancy& occupancy,
                     std::span<const ChainReuse> chain, const LaunchMemory& memory, const Gpu& gpu);

/// Launches back to back go through sets of their arrays, from 2 to 4096, that take more than three
/// times L2 together. Where a launch touches little of its arrays, as a gather from a large table
/// does, or 4096 sets are less, L2 still holds some of it when its set comes round: the share of
/// `dram` that it has lost.
double lost_between_rounds(const Plan& plan, const Traffic& dram, const Gpu& gpu);
/// The same of arrays of so many bytes that are read whole: none but of the smallest come round.
double lost_of_small(double bytes, const Gpu& gpu);

/// Of that, what is still in L2 when the kernel ends: L2 holds the last traffic, reads and writes
/// as they came, and the writes among it have not reached DRAM.
double left_dirty_bytes(const Traffic& dram, const Gpu& gpu);

LaunchMemory launch_memory(const LaunchSequence& program, std::size_t position,
                           const Occupancy& occupancy, CacheState cache, const Gpu& gpu);

}  // namespace roofcast
