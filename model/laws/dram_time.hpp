#pragma once
#include "model/types/gpu.hpp"
#include "model/types/work.hpp"

namespace roofcast {

/// Seconds DRAM needs to move the traffic. Reads that touch only a share (`read_density`, 0 to 1)
/// of the memory around them find fewer accesses in each row of a bank that they open: the time of
/// a byte rises from that of reads in order to that of scattered reads with (1 - density)³.
///
/// The cube is fitted to access.strided at strides of 64 B (all of it touched: 1.00), 128 (1.13),
/// 192 (1.23), 256 (1.45), 512 (1.58) and 1024 B (1.70 times the time) on an H200, run of
/// 2026-11-21.
double dram_time_s(const Traffic& dram, double read_density, const Gpu& gpu);

}  // namespace roofcast
