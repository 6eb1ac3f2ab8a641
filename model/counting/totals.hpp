#pragma once
#include "model/types/plan.hpp"

namespace roofcast {

/// What one block of the class issues.
Work issued_by_block(const BlockClass& blocks);

/// What a launch issues: the sum over its blocks.
Work issued_by_launch(const Plan& plan);

/// Of that what crosses between the SMs and L2.
Traffic l2_of_launch(const Plan& plan);

/// The totals of a launch: the useful arithmetic, the traffic issued, and what its arrays must
/// move. `l2` is what leaves the blocks for L2 if L1 keeps nothing, `dram` stays empty: both are
/// laws'.
Work total_work(const Plan& plan);

/// Of all warps of a launch.
double issued_instructions(const Plan& plan);

/// An even share of a launch's traffic: for counts that are exact only over the whole launch.
Traffic shared_by(const Traffic& total, double parts);

}  // namespace roofcast
