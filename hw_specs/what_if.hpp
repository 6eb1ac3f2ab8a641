#pragma once
#include "model/types/gpu.hpp"

namespace roofcast::specs {

/// A datasheet value set by hand changes what the device would keep up: sustained values that were
/// measured under the old one and not set themselves scale in the same ratio. DRAM rates go with
/// the DRAM bandwidth, what L2 holds with its size, L2 bandwidth with its rate and the clock, the
/// SM clock with the clock, and each latency with its own: the kind `share` of overlay.schema.json.
/// `measured` is the device as its files describe it, `asked` the same with the values set.
void carry_over(const Gpu& measured, Gpu& asked);

}  // namespace roofcast::specs
