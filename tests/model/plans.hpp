#pragma once
// Readings of a plan for tests.
#include <algorithm>

#include "model/counting/totals.hpp"
#include "model/laws/l1_reuse.hpp"
#include "model/laws/l2_reuse.hpp"
#include "model/laws/occupancy.hpp"
#include "model/types/plan.hpp"

namespace roofcast::testing {

/// A launch's traffic at L2 (bytes), without what L1 answers.
inline Traffic l2_traffic(const Plan& plan, const Occupancy& occupancy, const Gpu& gpu) {
  return roofcast::l2_traffic(plan, l1_misses(plan, occupancy, gpu));
}
inline Traffic dram_traffic(const Plan& plan, const Occupancy& occupancy, const Gpu& gpu,
                            std::span<const InterLaunchReuse> earlier = {}) {
  LaunchMemory memory;
  memory.early_bytes = written_back_early_bytes(plan, occupancy, gpu);
  memory.misses = l1_misses(plan, occupancy, gpu);
  return roofcast::dram_traffic(plan, occupancy, earlier, memory, gpu);
}

/// A launch's totals as a forecast takes them: `l2` without what L1 answers.
inline Work total(const Plan& plan, const Gpu& gpu) {
  Work sum = total_work(plan);
  sum.l2 = l2_traffic(plan, occupancy(plan.launch, *gpu.occupancy), gpu);
  return sum;
}

/// The first step of the blocks that come first.
inline const Step& first_step(const Plan& plan) {
  return plan.blocks.front().phases.front().step;
}

/// How often those blocks go round their longest loop.
inline double loop_steps(const Plan& plan) {
  double steps = 0;
  for (const Phase& phase : plan.blocks.front().phases) steps = std::max(steps, phase.repeats);
  return steps;
}

/// Waits of one kind of one of those blocks, summed over its phases and their repeats.
template <typename Member>
double waits_of_block(const Plan& plan, Member Waits::*member) {
  double sum = 0;
  for (const Phase& phase : plan.blocks.front().phases) {
    sum += phase.repeats * phase.step.waits.*member;
  }
  return sum;
}

/// Bytes of reads that L2 looks up, each group of coalesced reads once.
inline double l2_read_bytes(const Plan& plan) {
  return total_work(plan).l2.read_bytes - plan.coalesced.bytes;
}

}  // namespace roofcast::testing
