// A framework's kernels over rows, counted by hand.
#include <gtest/gtest.h>

#include <algorithm>

#include "model/constants/laws.hpp"
#include "model/laws/l2_reuse.hpp"
#include "model/libraries/rows.hpp"
#include "tests/model/devices.hpp"
#include "tests/model/plans.hpp"

namespace roofcast {
namespace {

using testing::hopper_like;

Gpu of_generation(std::optional<int> major) {
  Gpu gpu = hopper_like();
  gpu.compute_capability.reset();
  if (major) gpu.compute_capability = {*major, 0};
  return gpu;
}

Plan softmax_plan(std::int64_t rows, std::int64_t cols, DType type = DType::fp32) {
  return softmax::plan_library({.dtype = type, .values = {rows, cols}}, hopper_like()).front().plan;
}

double trips(const Plan& plan) {
  return testing::waits_of_block(plan, &Waits::global);
}
double barriers(const Plan& plan) {
  return testing::waits_of_block(plan, &Waits::barriers);
}

TEST(SoftmaxLibrary, LongRowsAreSweptThreeTimes) {
  const Plan plan = softmax_plan(8, 4096);
  EXPECT_EQ(plan.launch.grid[0], 8);
  EXPECT_EQ(plan.launch.block[0], 512);  // half of 1024 vectors
  EXPECT_EQ(total_work(plan).compulsory.read_bytes, 8 * 16384.0);
  EXPECT_EQ(total_work(plan).requested.read_bytes, 3 * 8 * 16384.0);
  EXPECT_EQ(total_work(plan).requested.write_bytes, 8 * 16384.0);
  EXPECT_EQ(trips(plan), 3 * 2);
  EXPECT_EQ(barriers(plan), 8);
  ASSERT_EQ(plan.reuse.size(), 2U);  // the second sweep, and the third
  for (const Reuse& sweep : plan.reuse) {
    EXPECT_EQ(sweep.bytes, 8 * 16384);
    EXPECT_EQ(sweep.distance_bytes, 2 * 16384.0);
  }
  EXPECT_EQ(plan.reuse[0].l2_distance_bytes, 2 * 16384.0);
  EXPECT_EQ(plan.reuse[1].l2_distance_bytes, 4.0 / 3 * 16384);
}

// PyTorch 2.11: a warp holds up to 2048 elements, a block nine in each of 1024 threads, 9216.
TEST(SoftmaxLibrary, LaterReleasesHoldALongRow) {
  const auto plan = [](std::int64_t cols) {
    Problem problem{.values = {8, cols}};
    problem[softmax::kRelease] = softmax::k2_11;
    return softmax::plan_library(problem, hopper_like()).front().plan;
  };
  EXPECT_EQ(plan(2048).launch.grid[0], 2);
  EXPECT_EQ(plan(2049).launch.block[0], 1024);
  for (const std::int64_t held : {2049, 9216}) {
    EXPECT_EQ(total_work(plan(held)).requested.read_bytes, 8.0 * 4 * as_double(held)) << held;
    EXPECT_TRUE(plan(held).reuse.empty()) << held;
  }
  EXPECT_EQ(plan(9217).reuse.size(), 2U);
}

TEST(SoftmaxLibrary, ShortRowsStayInAWarp) {
  const Plan plan = softmax_plan(10, 1000);
  EXPECT_EQ(plan.launch.grid[0], 3);  // a row a warp, four warps
  EXPECT_EQ(plan.launch.threads(), 128);
  EXPECT_EQ(total_work(plan).requested.read_bytes, total_work(plan).compulsory.read_bytes);
  EXPECT_TRUE(plan.reuse.empty());
  EXPECT_EQ(softmax_plan(9, 100).launch.grid[0], 2);  // two rows a warp
  EXPECT_EQ(softmax_plan(65, 8).launch.grid[0], 3);   // eight lanes a row, two rows each
  EXPECT_EQ(softmax_plan(10, 1025).launch.grid[0], 10);
}

// Vector pipe: the maximum; x - max and a sum; x - max. Special functions: two exponentials and a
// reciprocal.
TEST(SoftmaxLibrary, ArithmeticOfAnElement) {
  const Plan longer = softmax_plan(8, 4096);
  EXPECT_EQ(issued_by_launch(longer).vector_flops, 8 * 4096 * 4);
  EXPECT_EQ(issued_by_launch(longer).special_flops, 8 * 4096 * 3);
  EXPECT_EQ(longer.useful.vector_flops, 8 * 4096 * 4);
}

TEST(NormLibrary, SweepsTwiceAndWritesTheMoments) {
  const Plan plan = norm::plan_library({.values = {16, 1024}}, of_generation(8)).front().plan;
  EXPECT_EQ(plan.launch.grid[0], 16);
  EXPECT_EQ(plan.launch.threads(), 128);
  const double x = 16 * 4096.0;
  EXPECT_EQ(total_work(plan).compulsory.read_bytes, x + 2 * 4096);  // γ and β
  EXPECT_EQ(total_work(plan).compulsory.write_bytes, x + 16 * 8);   // mean and reciprocal deviation
  EXPECT_EQ(total_work(plan).requested.read_bytes, 2 * x + 16 * 2 * 4096);
  EXPECT_EQ(testing::total(plan, of_generation(8)).l2.read_bytes,
            2 * x + 16 * 2 * 4096);  // 16 SMs have a row
  EXPECT_EQ(trips(plan), 2 + 2);
  const auto own = std::find_if(plan.reuse.begin(), plan.reuse.end(),
                                [](const Reuse& reuse) { return reuse.scope == Scope::block; });
  ASSERT_NE(own, plan.reuse.end());
  EXPECT_EQ(own->bytes, x);
  EXPECT_EQ(own->l2_distance_bytes, 2 * 4096);
}

// Neither sweep loads a vector before it has used the one before.
TEST(NormLibrary, EachVectorOfARowIsWaitedForTwice) {
  const auto waits = [](std::int64_t cols) {
    return trips(norm::plan_library({.values = {16, cols}}, hopper_like()).front().plan);
  };
  EXPECT_EQ(waits(2048), 4 + 4);
  EXPECT_EQ(waits(2560), 5 + 5);
}

// Welford's update of an element: x - mean, mean += that · 1/n (2), x - mean, m2 += product (2),
// n += 1, and the reciprocal; the result: (x - mean) · rstd · γ + β, 4.
TEST(NormLibrary, ArithmeticOfAnElement) {
  const double n = 16 * 1024;
  const Work vectors =
      issued_by_launch(norm::plan_library({.values = {16, 1024}}, hopper_like()).front().plan);
  EXPECT_EQ(vectors.vector_flops, n * (7 + 4));
  EXPECT_EQ(vectors.special_flops, n);
  const LaunchSequence scalars = norm::plan_library({.values = {16, 1001}}, hopper_like());
  const double m = 16 * 1001;
  EXPECT_EQ(issued_by_launch(scalars[0].plan).vector_flops, m * 7);
  EXPECT_EQ(issued_by_launch(scalars[0].plan).special_flops, m);
  EXPECT_EQ(scalars[0].plan.useful.vector_flops, m * 7);
  EXPECT_EQ(issued_by_launch(scalars[1].plan).vector_flops, m * 4);
  EXPECT_EQ(issued_by_launch(scalars[1].plan).special_flops, 0);
  EXPECT_EQ(scalars[1].plan.useful.special_flops, 0);
  // The mean of squares: a square and a sum, no reciprocal for each element; then two products.
  Problem rms{.values = {16, 1024}};
  rms[norm::kLibraryKind] = norm::kLibraryRmsnorm;
  const Work squares = issued_by_launch(norm::plan_library(rms, hopper_like()).front().plan);
  EXPECT_EQ(squares.vector_flops, n * (2 + 2));
  EXPECT_EQ(squares.special_flops, 0);
}

TEST(NormLibrary, RmsnormReadsOneParameter) {
  Problem problem{.values = {16, 1024}};
  problem[norm::kLibraryKind] = norm::kLibraryRmsnorm;
  const Plan plan = norm::plan_library(problem, hopper_like()).front().plan;
  EXPECT_EQ(total_work(plan).compulsory.read_bytes, 16 * 4096.0 + 4096);
  EXPECT_EQ(total_work(plan).compulsory.write_bytes, 16 * 4096.0 + 16 * 4);
}

TEST(NormLibrary, RowsThatAreNoVectorsTakeTwoKernels) {
  const LaunchSequence plans = norm::plan_library({.values = {16, 1001}}, hopper_like());
  ASSERT_EQ(plans.size(), 2U);
  const double x = 16 * 1001 * 4.0;
  EXPECT_EQ(total_work(plans[0].plan).compulsory.read_bytes, x);
  EXPECT_EQ(total_work(plans[0].plan).dram_footprint.write_bytes, 16 * 8);
  EXPECT_EQ(total_work(plans[1].plan).compulsory.write_bytes, x);
  EXPECT_EQ(total_work(plans[1].plan).compulsory.read_bytes,
            2 * 1001 * 4);  // γ and β; x came before
  EXPECT_EQ(total_work(plans[1].plan).dram_footprint.read_bytes, x + 2 * 1001 * 4 + 16 * 8);
  const std::vector<InterLaunchReuse> again = inter_launch_reuse(plans, 1);
  ASSERT_EQ(again.size(), 2U);
  EXPECT_EQ(again[0].bytes.read_bytes + again[1].bytes.read_bytes, x + 16 * 8);
}

// Of 20 blocks 8 are resident: 8 · 1060 bytes between two uses are 1.06 of what L2 keeps, so half
// misses. Those of 7 blocks fit, those of 12 are all lost.
TEST(Rereads, MissWhatTheResidentBlocksPushedOut) {
  Gpu gpu = hopper_like();
  gpu.memory.l2_bytes = 8000 / law::kL2ResidentShare;
  Plan plan;
  plan.launch.grid[0] = 20;
  plan.arrays = {{.array = 0, .compulsory = {}, .footprint = {20 * 300.0, 20 * 300.0}}};
  plan.reuse = {{.bytes = 20 * 300.0, .distance_bytes = 1000, .l2_distance_bytes = 1060}};
  const auto traffic = [&](std::int64_t blocks_at_once) {
    gpu.sm_count = blocks_at_once;
    const Occupancy one_a_sm{1, 1, OccupancyLimiter::blocks};
    return testing::dram_traffic(plan, one_a_sm, gpu);
  };
  EXPECT_NEAR(traffic(8).read_bytes, 6000 + 20 * 300 * 0.5, 1e-9);
  EXPECT_DOUBLE_EQ(traffic(8).write_bytes, 6000);
  EXPECT_DOUBLE_EQ(traffic(7).read_bytes, 6000);
  EXPECT_DOUBLE_EQ(traffic(12).read_bytes, 12000);
  plan.launch.grid[0] = 7;  // fewer blocks than fit: only they push
  EXPECT_DOUBLE_EQ(traffic(100).read_bytes, 6000);
}

}  // namespace
}  // namespace roofcast
