#pragma once
#include "model/types/gpu.hpp"

namespace roofcast::specs {

/// Scales the sustained values that `asked` has from `measured` by the ratio of their datasheet
/// values; a value that differs from the measured one was set by hand and stays. DRAM rates scale
/// with the DRAM bandwidth, L2 bandwidth with its bytes per clock (or the SMs) × clock, and clocks,
/// latencies and rates per SM each with its own datasheet value: the kind `share` of
/// overlay.schema.json.
void carry_over(const Gpu& measured, Gpu& asked);

}  // namespace roofcast::specs
