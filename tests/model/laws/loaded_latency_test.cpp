#include "model/laws/loaded_latency.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace roofcast {
namespace {

// SMs that take `idle` and `slope` more for each service time that loads wait.
double loaded(double idle, double slope, double busy, double share = 1) {
  return loaded_time_s([=](double waits) { return idle + slope * waits; },
                       std::array{LoadedLevel{busy, share}}, std::max(idle, busy));
}

constexpr double kExact = 1e-4;

TEST(LoadedLatency, IdleMemoryAnswersAtOnce) {
  EXPECT_EQ(loaded(10, 2, 0), 10);
  EXPECT_EQ(loaded(10, 2, 8, 0), 10);
  EXPECT_EQ(loaded(10, 0, 8), 10);  // waits are hidden
  EXPECT_EQ(loaded(10, 0, 18), 18);
}

// T = 10 + 2·8 ÷ (T - 8): T² - 18·T + 64 = 0. At T = 16 half of the bandwidth is taken: idle + slope.
TEST(LoadedLatency, WaitsGrowAsTheBandwidthIsTaken) {
  EXPECT_NEAR(loaded(10, 2, 8), 9 + std::sqrt(17), 13 * kExact);
  EXPECT_NEAR(loaded(14, 2, 8), 16, 16 * kExact);
  EXPECT_NEAR(loaded(0, 2, 8), 4 + std::sqrt(32), 10 * kExact);
  EXPECT_NEAR(loaded(14, 4, 8, 0.5), 16, 16 * kExact);
}

TEST(LoadedLatency, LevelsAddUp) {
  const std::array levels = {LoadedLevel{4, 1}, LoadedLevel{2, 1}};
  const double time = loaded_time_s([](double waits) { return 7 + waits; }, levels, 7);
  EXPECT_NEAR(time, 7 + 4 / (time - 4) + 2 / (time - 2), 8 * kExact);
}

// Waits that other work hides up to a point: T = max(10, 6 + 8·8 ÷ (T - 8)) is 7 + √65.
TEST(LoadedLatency, WaitsThatOthersHide) {
  const auto sms_s = [](double waits) { return std::max(10.0, 6 + 8 * waits); };
  const double time = loaded_time_s(sms_s, std::array{LoadedLevel{8, 1}}, 10);
  EXPECT_NEAR(time, 7 + std::sqrt(65), 15 * kExact);
}

RC_GTEST_PROP(LoadedLatency, IsNoLessThanAnyPartAndGrowsWithEach, ()) {
  const auto any = [] { return *rc::gen::inRange(0, 1000) * 1e-6; };
  const double idle = any(), slope = any(), busy = any(), more = any();
  const double time = loaded(idle, slope, busy);
  RC_ASSERT(time >= idle);
  RC_ASSERT(time >= busy);
  RC_ASSERT(loaded(idle + more, slope, busy) * (1 + kExact) >= time);
  RC_ASSERT(loaded(idle, slope + more, busy) * (1 + kExact) >= time);
  RC_ASSERT(loaded(idle, slope, busy + more) * (1 + kExact) >= time);
}

}  // namespace
}  // namespace roofcast
