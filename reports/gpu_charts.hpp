#pragma once
// Charts of devices alone: the memory hierarchy of one, compute against bandwidth over generations.
#include <string>
#include <vector>

#include "model/types/gpu.hpp"

namespace roofcast::reports {

/// Size, bandwidth and latency of registers, L1 and shared memory, L2 and DRAM, as far as they are
/// known, on logarithmic axes; below each other where the place is narrow. Vega-Lite JSON text.
std::string memory_hierarchy_chart(const Gpu& gpu, bool narrow = false);

/// Arithmetic and DRAM bandwidth as multiples of the oldest device's, and below them FLOP per byte
/// at the ridge; a narrow one tells every other figure. Of each architecture the device with the
/// most arithmetic, by year. Vega-Lite JSON text; InputError where fewer than two have both
/// figures.
std::string generations_chart(const std::vector<Gpu>& gpus, bool narrow = false);

}  // namespace roofcast::reports
