#include "model/counting/divergence.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "model/kernels/divergence/divergence.hpp"
#include "model/predict.hpp"
#include "tests/model/devices.hpp"
#include "tests/model/plans.hpp"

namespace roofcast {
namespace {

TEST(Divergence, PathsOfAWarp) {
  EXPECT_EQ(paths_uniform(), 1);
  EXPECT_EQ(paths_by_lane(7, 32), 7);
  EXPECT_EQ(paths_by_lane(40, 32), 32);
  EXPECT_EQ(paths_at_random(1, 32), 1);
  EXPECT_DOUBLE_EQ(paths_at_random(2, 2), 1.5);  // both lanes agree half the time
  EXPECT_NEAR(paths_at_random(8, 32), 7.888, 1e-3);
  EXPECT_NEAR(paths_at_random(32, 32), 20.414, 1e-3);
}

RC_GTEST_PROP(DivergenceProperty, AtRandomNeverMoreThanInTurn, ()) {
  const double paths = *rc::gen::inRange(1, 100);
  const double lanes = *rc::gen::inRange(1, 33);
  RC_ASSERT(paths_at_random(paths, lanes) >= 1 - 1e-12);
  RC_ASSERT(paths_at_random(paths, lanes) <= paths_by_lane(paths, lanes) + 1e-12);
}

Problem problem(std::int64_t paths, std::int64_t work) {
  return {.dtype = DType::fp32, .values = {1 << 22, paths, work, 256}};
}

Plan plan_of(const char* name, std::int64_t paths, std::int64_t work) {
  return find_kernel(name).kernel->plan(problem(paths, work), testing::hopper_like()).front().plan;
}

TEST(Divergence, UsefulWorkIsTheSameWhoeverDiverges) {
  for (const char* name :
       {"divergence.warp_uniform", "divergence.k_way", "divergence.data_dependent"}) {
    EXPECT_EQ(total_work(plan_of(name, 8, 512)).vector_flops, (1 << 22) * (2 * 512 + 6.0)) << name;
  }
  EXPECT_EQ(total_work(plan_of("divergence.k_way", 8, 512)).compulsory.total_bytes(),
            8.0 * (1 << 22));
  EXPECT_EQ(total_work(plan_of("divergence.data_dependent", 8, 512)).compulsory.total_bytes(),
            12.0 * (1 << 22));
}

// 8 warps a block: the pipe is taken for whole warps, once a path.
TEST(Divergence, IssuesTheInstructionsOfEveryPathTaken) {
  const Step uniform = testing::first_step(plan_of("divergence.warp_uniform", 8, 512));
  const Step by_lane = testing::first_step(plan_of("divergence.k_way", 8, 512));
  EXPECT_EQ(uniform.issued.vector_flops, 8 * 32 * (2 * 512 + 6.0));
  EXPECT_EQ(by_lane.issued.vector_flops, 8 * uniform.issued.vector_flops);
  // A path: 512 / 16 rounds of 19 instructions and 12 around them.
  EXPECT_NEAR(uniform.warp_instructions / 8, 44 + 13 + 12 + 32 * 19, 1e-9);
  EXPECT_NEAR(by_lane.warp_instructions / 8, 45 + 13 + 7 * 107.0 / 31 + 8 * (12 + 32 * 19), 1e-9);
}

TEST(Divergence, PartOfARoundIsRefused) {
  EXPECT_THROW(plan_of("divergence.k_way", 8, 24), InputError);
}

// Long paths: k paths take k times as long, whatever the clock.
TEST(Divergence, TimeGrowsWithThePaths) {
  const Gpu gpu = testing::hopper_like();
  const KernelRef found = find_kernel("divergence.k_way");
  const double one = predict(found, problem(1, 4096), gpu).time->expected_s;
  const double sixteen = predict(found, problem(16, 4096), gpu).time->expected_s;
  EXPECT_NEAR(sixteen / one, 16, 0.5);
}

}  // namespace
}  // namespace roofcast
