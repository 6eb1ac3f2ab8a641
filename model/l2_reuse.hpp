#pragma once
#include <cstdint>

#include "model/gpu.hpp"
#include "model/plan.hpp"
#include "model/prediction.hpp"
#include "model/work.hpp"

namespace roofcast {

/// Share of accesses that miss L2 when the same data comes round again after `distance_bytes` of
/// other data: cyclic reuse under random replacement, m = 1 - exp(-m·D/C), 0 for D ≤ C.
double l2_miss_share(double distance_bytes, const Gpu& gpu);

/// What crosses between L2 and DRAM in one launch of the plan, when `resident_blocks` run at once.
Traffic dram_traffic(const Plan& plan, std::int64_t resident_blocks, const Gpu& gpu,
                     CacheState cache);

}  // namespace roofcast
