// The demands of a step on the network, by the groups of warps that go through it.
#include "model/laws/stations.hpp"

#include <gtest/gtest.h>

#include "model/constants/laws.hpp"
#include "tests/model/devices.hpp"

namespace roofcast {
namespace {

constexpr double kWarps = 8;

// Eight warps, copies two steps ahead.
PhaseDemand pipelined_by(double groups) {
  Plan plan;
  plan.launch.block[0] = 32 * static_cast<std::int64_t>(kWarps);
  Phase phase;
  phase.step.issued.tensor_flops[DType::bf16] = 1 << 20;
  phase.step.waits.tile_loads = 1;
  phase.ahead = 2;
  phase.groups = groups;
  return demand_of(phase, plan, {}, testing::hopper_like());
}

TEST(Stations, ABlockThatCopiesAheadGoesThroughAStepAsOne) {
  const PhaseDemand demand = pipelined_by(0);
  EXPECT_EQ(demand.parts, 1);
  EXPECT_GE(demand.latency, law::kPipelineStepCycles);
}

TEST(Stations, WarpgroupsFillAPipeEach) {
  const PhaseDemand demand = pipelined_by(2);
  EXPECT_EQ(demand.parts, 2);
  EXPECT_TRUE(demand.grouped);
  EXPECT_GE(demand.latency, law::kPipelineStepCycles);
}

// Each warp has its sub-partition's share of a pipe, and no tile is handed over between warps.
TEST(Stations, WarpsThatCopyForThemselvesWaitForNoOther) {
  const PhaseDemand demand = pipelined_by(kWarps);
  EXPECT_EQ(demand.parts, kWarps);
  EXPECT_FALSE(demand.grouped);
  EXPECT_LT(demand.latency, law::kPipelineStepCycles);
}

}  // namespace
}  // namespace roofcast
