// Where the names of roofs lie.
#include "reports/roof_labels.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <optional>
#include <vector>

namespace roofcast::reports {
namespace {

// Points of kernels lie along the whole slope but where it crosses a level's name.
TEST(RoofLabels, ASlopesNameCoversPointsRatherThanAName) {
  const LogAxis axis{1, 1e4, 400, "", ""};
  const RoofLabel level{.text = "134 TFLOP/s", .at = {210, 250}};
  std::vector<Pixel> points;
  for (double x = 0; x < 400; x += 8) {
    if (x < 215 || x > 285) points.push_back({x, x});
  }
  const auto named = slope_labels({{"DRAM", 1.0, std::nullopt}}, axis, axis, 1e4, points, {level});
  ASSERT_EQ(named.size(), 1U);
  const double along = std::cos(std::atan(1.0)) * 8;  // px between letters, across and up
  for (int letter = 0; letter < 8; ++letter) {
    const Pixel at = {named[0].at.x + letter * along, named[0].at.y + letter * along};
    const bool across = at.x > level.at.x - 8 && at.x < level.at.x + 90;
    EXPECT_FALSE(across && std::abs(at.y - level.at.y) < 8) << at.x << ", " << at.y;
  }
}

}  // namespace
}  // namespace roofcast::reports
