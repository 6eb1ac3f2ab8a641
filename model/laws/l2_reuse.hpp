#pragma once
#include <cstdint>

#include "model/types/gpu.hpp"
#include "model/types/plan.hpp"
#include "model/types/work.hpp"

namespace roofcast {

/// Share of accesses that miss L2 when the same data comes round again after `distance_bytes` of
/// other data: none up to the capacity C, all from 1.5·C on, linear between.
double l2_miss_share(double distance_bytes, const Gpu& gpu);

/// How blocks that run at the same time march along the depth of their product.
enum class March : unsigned char {
  in_step,  ///< waiting for memory, all equally: what one reads the others find in L2
  apart     ///< the data pipe is full and serves the oldest block first, so blocks finish one by
            ///< one and tile rows spread over the depth: each sweeps its operand alone
};

/// What crosses between L2 and DRAM for one launch of the plan, when `resident_blocks` run at once,
/// each written byte counted.
Traffic dram_traffic(const Plan& plan, std::int64_t resident_blocks, March march, const Gpu& gpu);

/// Of that, what is still in L2 when the kernel ends: L2 holds the last traffic, reads and writes
/// as they came, and the writes among it have not reached DRAM.
double left_dirty_bytes(const Traffic& dram, const Gpu& gpu);

}  // namespace roofcast
