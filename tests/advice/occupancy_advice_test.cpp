#include "advice/advice.hpp"

#include <gtest/gtest.h>

#include "model/laws/occupancy.hpp"
#include "tests/model/devices.hpp"

namespace roofcast {
namespace {

Launch launch_of(std::int64_t threads, std::int64_t registers, std::int64_t shared) {
  return {.block = {threads, 1, 1}, .registers = registers, .shared_bytes = shared};
}

TEST(BetterSettings, EachAloneRaisesTheWarps) {
  const Gpu gpu = testing::hopper_like();
  const Launch now = launch_of(192, 96, 49152);
  const std::int64_t warps = occupancy(now, gpu).warps_per_sm;
  const auto better = better_settings(now, gpu);
  ASSERT_FALSE(better.empty());
  for (const auto& [setting, value, fit] : better) EXPECT_GT(fit.warps_per_sm, warps) << setting;
}

TEST(BetterSettings, TheLargestRegistersThatHelp) {
  // 65536 registers: 8 blocks of 256 threads need 32 a thread, and 33 are rounded up to 40.
  const Gpu gpu = testing::hopper_like();
  const auto better = better_settings(launch_of(256, 40, 0), gpu);
  ASSERT_FALSE(better.empty());
  EXPECT_EQ(better.front().setting, "registers");
  EXPECT_EQ(better.front().value, 32);
}

TEST(BetterSettings, NoneWhereTheSmIsFull) {
  const Gpu gpu = testing::hopper_like();
  EXPECT_TRUE(better_settings(launch_of(256, 32, 0), gpu).empty());
}

}  // namespace
}  // namespace roofcast
