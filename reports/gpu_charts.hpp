#pragma once
// Charts of devices without kernels: the memory hierarchy of one, and generations of them.
#include <string>
#include <vector>

#include "model/types/gpu.hpp"

namespace roofcast::reports {

/// Known sizes, bandwidths and latencies of registers, L1 with shared memory, L2 and DRAM, on
/// logarithmic axes; `narrow` puts the panels below each other. Vega-Lite JSON text.
std::string memory_hierarchy_chart(const Gpu& gpu, bool narrow = false);

/// Peak fp16 or fp32 rate and DRAM bandwidth as multiples of the oldest device's, and in a panel
/// below the ridge in FLOP per byte. One device per architecture, the one with the highest peak, by
/// year; `narrow` labels every other value. Vega-Lite JSON text. Throws InputError if fewer than
/// two architectures have both figures.
std::string generations_chart(const std::vector<Gpu>& gpus, bool narrow = false);

}  // namespace roofcast::reports
