// The time of a launch besides its blocks, and the parts that it is divided into.
#include "model/laws/forecast.hpp"

#include <gtest/gtest.h>

#include <numeric>

#include "tests/model/devices.hpp"

namespace roofcast {
namespace {

constexpr std::int64_t kSms = 132;
constexpr Occupancy kOneAnSm{1, 8, OccupancyLimiter::blocks};

Plan waiting_blocks(std::int64_t count) {
  Plan plan;
  plan.launch.grid[0] = count;
  plan.launch.block[0] = 256;
  Step step;
  step.waits.arithmetic = 1000;
  plan.blocks = {{count, {{step}}}};
  return plan;
}

LaunchTime time_of(const Plan& plan, LaunchMemory memory, const Gpu& gpu,
                   CacheState cache = CacheState::cold) {
  memory.misses = l1_misses(plan, kOneAnSm, gpu);
  constexpr double kClock_hz = 1e9;
  return launch_time(plan, kOneAnSm, memory, kClock_hz, gpu, {.cache = cache});
}

TEST(LaunchTime, OnlyLaunchesBackToBackFindTheirCodeInL2) {
  const Gpu gpu = testing::hopper_like();
  Plan plan = waiting_blocks(kSms);
  plan.start = Start::code;
  const auto first_access_s = [&](CacheState cache) {
    return time_of(plan, {}, gpu, cache).parts[Part::first_access];
  };
  EXPECT_GT(first_access_s(CacheState::cold), first_access_s(CacheState::steady));
  EXPECT_EQ(first_access_s(CacheState::cold), first_access_s(CacheState::warm));
}

TEST(LaunchTime, PartsAddUp) {
  Gpu gpu = testing::hopper_like();
  gpu.sustained.first_access_s = 5e-6;
  Plan plan = waiting_blocks(kSms + 1);
  plan.arrays = {{.array = 0, .compulsory = {1, 1}, .footprint = {}}};
  const LaunchTime time = time_of(plan, {.l2 = {}, .dram = {}, .new_share = 1}, gpu);
  double sum = 0;
  for (std::size_t i = 0; i < kParts; ++i) sum += time.parts[static_cast<Part>(i)];
  EXPECT_EQ(time.parts[Part::first_access], 5e-6);
  EXPECT_NEAR(sum, time.time_s, 1e-12 * sum);
}

// 4000 cycles of dependent arithmetic (4 each), in two rounds, of which the second fills 1 of 132
// places.
TEST(LaunchTime, EmptyPlacesAreTheTail) {
  const Gpu gpu = testing::hopper_like();
  const LaunchTime time = time_of(waiting_blocks(kSms + 1), {.l2 = {}, .dram = {}}, gpu);
  const double round_s = time.time_s / 2;
  EXPECT_NEAR(time.parts[Part::tail], round_s * (kSms - 1) / kSms, 0.02 * round_s);
}

}  // namespace
}  // namespace roofcast
