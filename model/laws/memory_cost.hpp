#pragma once
#include <span>

#include "model/constants/laws.hpp"
#include "model/laws/l2_reuse.hpp"
#include "model/laws/stations.hpp"
#include "model/types/gpu.hpp"
#include "model/types/work.hpp"

namespace roofcast {

/// Accesses that touch only the share `density` of the DRAM around them.
struct SparseAccesses {
  double bytes = 0;
  double density = 1;  ///< 0 to 1
  bool written = false;
  double padding_bytes = 0;  ///< moved by DRAM beyond the traffic
};

/// Seconds of reads and of writes.
struct MemoryTime {
  double read_s = 0, write_s = 0;

  double total_s() const { return read_s + write_s; }
};

/// DRAM time of the traffic; reads and writes each bear half of the bus turnaround. The accesses of
/// `sparse`, a part of the traffic, use less of each DRAM row they open: the time per byte rises
/// from the streaming to the scattered one with (1 - density)³.
MemoryTime dram_time(const Traffic& dram, std::span<const SparseAccesses> sparse, const Gpu& gpu);

/// Share of the DRAM around an array's reads that they read together.
inline double read_density(const AccessPattern& pattern) {
  return pattern.out_of_step ? double{law::kOutOfStepReadDensity} : pattern.read_density;
}

/// L2 and DRAM cycles per byte that the blocks move below L1, and the shares of loads that L1 and
/// DRAM serve.
MemoryCost memory_cost(const Plan& plan, const Occupancy& occupancy, const LaunchMemory& memory,
                       double clock_hz, const Gpu& gpu);

}  // namespace roofcast
