#include "model/laws/waves.hpp"

#include <gtest/gtest.h>

namespace roofcast {
namespace {

// Horace He's example: 108 SMs, 256×128 tiles: 1792² fits one wave, 1793² not.
TEST(Waves, TileQuantization) {
  const Waves one = waves(7 * 14, 108);
  EXPECT_EQ(one.full, 0);
  EXPECT_DOUBLE_EQ(one.count, 98.0 / 108);
  EXPECT_DOUBLE_EQ(one.tail_utilization, 98.0 / 108);
  EXPECT_DOUBLE_EQ(one.efficiency, 98.0 / 108);
  const Waves two = waves(8 * 15, 108);
  EXPECT_EQ(two.full, 1);
  EXPECT_DOUBLE_EQ(two.tail_utilization, 12.0 / 108);
  EXPECT_DOUBLE_EQ(two.efficiency, 120.0 / 108 / 2);
  const Waves even = waves(216, 108);
  EXPECT_EQ(even.full, 2);
  EXPECT_EQ(even.tail_utilization, 1);
  EXPECT_EQ(even.efficiency, 1);
}

}  // namespace
}  // namespace roofcast
