// Branches that lanes do not agree on, counted by hand.
#include "model/kernels/divergence/divergence.hpp"

#include <gtest/gtest.h>

#include "model/predict.hpp"
#include "tests/model/devices.hpp"
#include "tests/model/plans.hpp"

namespace roofcast {
namespace {

// Four chains of multiply-adds, of which three start with a sum, and three sums at the end.
TEST(Divergence, UsefulArithmeticIsThatOfOnePath) {
  const KernelRef family = find_kernel("divergence");
  const Problem p{.dtype = DType::fp32, .values = {1 << 20, 8, 64}};
  const Work work = family.family->work(p);
  EXPECT_EQ(work.vector_flops, (1 << 20) * (2 * 64 + 6.0));
  EXPECT_EQ(work.compulsory.read_bytes, 4 << 20);
  EXPECT_EQ(work.compulsory.write_bytes, 4 << 20);
  for (const KernelModel& variant : family.family->variants) {
    Problem whole = p;
    check({family.family, &variant}, whole, 0b111);
    const Plan plan = variant.plan(whole, testing::hopper_like()).front().plan;
    EXPECT_EQ(plan.useful.vector_flops, work.vector_flops) << variant.name;
    EXPECT_GE(issued_by_launch(plan).vector_flops, work.vector_flops) << variant.name;
  }
}

Problem problem(std::int64_t paths, std::int64_t work) {
  return {.dtype = DType::fp32, .values = {1 << 22, paths, work, 256}};
}

Plan plan_of(const char* name, std::int64_t paths, std::int64_t work) {
  return find_kernel(name).kernel->plan(problem(paths, work), testing::hopper_like()).front().plan;
}

double paths_taken(const char* name, std::int64_t paths) {
  const auto flops = [&](const char* of) {
    return testing::first_step(plan_of(of, paths, 512)).issued.vector_flops;
  };
  return flops(name) / flops("divergence.warp_uniform");
}

// A path of k is missed by all lanes with probability (1 - 1/k)^32.
TEST(Divergence, PathsOfAWarp) {
  EXPECT_EQ(paths_taken("divergence.k_way", 7), 7);
  EXPECT_EQ(paths_taken("divergence.k_way", 32), 32);
  EXPECT_EQ(paths_taken("divergence.data_dependent", 1), 1);
  EXPECT_NEAR(paths_taken("divergence.data_dependent", 2), 2, 1e-3);
  EXPECT_NEAR(paths_taken("divergence.data_dependent", 8), 7.888, 1e-3);
  EXPECT_NEAR(paths_taken("divergence.data_dependent", 32), 20.414, 1e-3);
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
  // A path: 512 / 16 rounds of 19 instructions, and for each further one 12 around them.
  EXPECT_NEAR(uniform.warp_instructions / 8, 66 + 32 * 19, 1e-9);
  EXPECT_NEAR(by_lane.warp_instructions / 8, 66 + 7 * (107.0 / 31 + 12) + 8 * 32 * 19, 1e-9);
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
