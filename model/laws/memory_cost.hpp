#pragma once
#include "model/laws/launch_memory.hpp"
#include "model/laws/stations.hpp"

namespace roofcast {

/// What the device's L2 and DRAM take for the bytes that the launch's blocks move below L1, and
/// where their loads find them.
MemoryCost memory_cost(const Plan& plan, const Occupancy& occupancy, const LaunchMemory& memory,
                       double clock_hz, const Gpu& gpu);

}  // namespace roofcast
