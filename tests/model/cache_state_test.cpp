// What L2 holds when a launch starts.
#include <gtest/gtest.h>

#include <algorithm>

#include "model/predict.hpp"
#include "tests/model/devices.hpp"

namespace roofcast {
namespace {

TEST(Warm, SmallActivationsAreFoundAndLargeOnesAreNot) {
  const KernelRef gelu = find_kernel("elementwise.gelu.fused");
  const Gpu gpu = testing::hopper_like();
  const auto read = [&](std::int64_t n, CacheState cache) {
    Problem problem;
    problem[0] = n;
    check(gelu, problem, 1);
    return predict(gelu, problem, gpu, {.cache = cache}).work.dram.read_bytes;
  };
  EXPECT_EQ(read(1 << 20, CacheState::warm), 0);
  EXPECT_EQ(read(1 << 20, CacheState::cold), 4 << 20);
  EXPECT_EQ(read(1 << 28, CacheState::warm), 1 << 30);
}

TEST(Repeated, DataThatFitAreFoundWeightsToo) {
  const KernelRef product = find_kernel("gemm.vectorized");
  const auto read = [&](std::int64_t m, CacheState cache) {
    Problem problem;
    problem[0] = m, problem[1] = 1024, problem[2] = 512;
    check(product, problem, 7);
    return predict(product, problem, testing::hopper_like(), {.cache = cache}).work.dram.read_bytes;
  };
  EXPECT_EQ(read(256, CacheState::repeated), 0);
  EXPECT_NEAR(read(1 << 19, CacheState::repeated), read(1 << 19, CacheState::steady), 1);
}

// Back to back the same data wait for nothing that other data of that size do not wait for.
TEST(Repeated, SmallDataNeedNoFirstAccess) {
  const KernelRef copy = find_kernel("stream.copy");
  Gpu gpu = testing::hopper_like();
  gpu.sustained.first_access_s = 5e-7;
  const auto first_s = [&](std::int64_t n, CacheState cache) {
    Problem problem;
    problem[0] = n;
    check(copy, problem, 1);
    return predict(copy, problem, gpu, {.cache = cache}).time->waterfall[Part::first_access];
  };
  EXPECT_EQ(first_s(1024, CacheState::repeated), 0);
  EXPECT_GT(first_s(1024, CacheState::cold), 4e-7);
  EXPECT_GT(first_s(1 << 28, CacheState::repeated), 4e-7);
}

TEST(Repeated, NoLoopOnTheSameDataBeatsTheLimit) {
  const KernelRef add = find_kernel("stream.add");
  Problem problem;
  problem[0] = 1 << 20;
  check(add, problem, 1);
  const auto with = [&](CacheState cache) {
    return predict(add, problem, testing::hopper_like(), {.cache = cache});
  };
  const Prediction steady = with(CacheState::steady), repeated = with(CacheState::repeated);
  EXPECT_LT(repeated.time->expected_s, steady.time->expected_s);
  EXPECT_LT(repeated.limit.time_s, steady.limit.time_s);
  EXPECT_GE(repeated.time->expected_s, repeated.limit.time_s);
}

TEST(Warm, WeightsAreNot) {
  const KernelRef product = find_kernel("gemm.vectorized");
  Problem problem;
  problem[0] = 256, problem[1] = 1024, problem[2] = 512;
  check(product, problem, 7);
  const Prediction warm =
      predict(product, problem, testing::hopper_like(), {.cache = CacheState::warm});
  EXPECT_DOUBLE_EQ(warm.work.dram.read_bytes, 512 * 1024 * 4) << "B, and nothing of A";
  const auto says = [](const Prediction& prediction) {
    return std::count_if(prediction.traffic_reasons.begin(), prediction.traffic_reasons.end(),
                         [](const TrafficReason& reason) {
                           return reason.text == "L2 still holds 524.3 kB of an earlier launch";
                         });
  };
  EXPECT_EQ(says(warm), 1);
  EXPECT_EQ(says(predict(product, problem, testing::hopper_like())), 0);
}

}  // namespace
}  // namespace roofcast
