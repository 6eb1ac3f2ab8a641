#include "model/laws/overlap.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>

namespace roofcast {
namespace {

TEST(Overlap, LiesBetweenMaximumAndSum) {
  EXPECT_DOUBLE_EQ(Overlap(2)(std::array{3.0, 4.0}), 5);
  EXPECT_DOUBLE_EQ(Overlap(1)(std::array{3.0, 4.0}), 7);
  EXPECT_DOUBLE_EQ(Overlap(2)(std::array{4.0, 4.0}), std::sqrt(32));
  EXPECT_DOUBLE_EQ(Overlap(2)(std::array{0.0, 7.0}), 7);
  EXPECT_EQ(Overlap(2)(std::array{0.0, 0.0}), 0);
}

TEST(Overlap, WithoutACalibrationPartsOverlapWell) {
  // ⁴√(1 + 1) of two equal parts.
  EXPECT_DOUBLE_EQ(Overlap({})(std::array{10.0, 10.0}), 10 * std::pow(2, 0.25));
}

// ‖100, 6‖₁ counts both, of 100 and 5 the second is left out.
TEST(Overlap, LeavesOutWhatIsAtMostATwentieth) {
  EXPECT_DOUBLE_EQ(Overlap(1)(std::array{100.0, 6.0}), 106);
  EXPECT_DOUBLE_EQ(Overlap(1)(std::array{100.0, 5.0}), 100);
}

}  // namespace
}  // namespace roofcast
