// The demands of a step on the network, by the groups of warps that go through it.
#include "model/laws/stations.hpp"

#include <gtest/gtest.h>

#include "model/constants/laws.hpp"
#include "tests/model/devices.hpp"

namespace roofcast {
namespace {

constexpr double kWarps = 8;

// Eight warps, copies two steps ahead.
Visit pipelined_by(double groups) {
  Plan plan;
  plan.launch.block[0] = 32 * static_cast<std::int64_t>(kWarps);
  Phase phase;
  phase.step.issued.tensor_flops[DType::bf16] = 1 << 20;
  phase.step.waits.tile_loads = 1;
  phase.ahead = 2;
  phase.groups = groups;
  return visit_of(phase, plan, {}, testing::hopper_like());
}

TEST(Stations, ABlockThatCopiesAheadGoesThroughAStepAsOne) {
  const Visit visit = pipelined_by(0);
  EXPECT_EQ(visit.parts, 1);
  EXPECT_GE(visit.latency, law::kPipelineStepCycles);
}

TEST(Stations, WarpgroupsFillAPipeEach) {
  const Visit visit = pipelined_by(2);
  EXPECT_EQ(visit.parts, 2);
  EXPECT_TRUE(visit.grouped);
  EXPECT_GE(visit.latency, law::kPipelineStepCycles);
}

// Each warp has its sub-partition's share of a pipe, and no tile is handed over between warps.
TEST(Stations, WarpsThatCopyForThemselvesWaitForNoOther) {
  const Visit visit = pipelined_by(kWarps);
  EXPECT_EQ(visit.parts, kWarps);
  EXPECT_FALSE(visit.grouped);
  EXPECT_LT(visit.latency, law::kPipelineStepCycles);
}

}  // namespace
}  // namespace roofcast
