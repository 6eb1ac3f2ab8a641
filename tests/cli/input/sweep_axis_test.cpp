#include "cli/input/sweep_axis.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <limits>
#include <span>

#include "cli/exit_code.hpp"
#include "model/types/problem.hpp"

namespace roofcast::cli {
namespace {

using ::testing::ElementsAre;

TEST(SweepAxis, NumbersListsAndRanges) {
  EXPECT_THAT(parse_axis("m", "7").values, ElementsAre(7));
  EXPECT_THAT(parse_axis("m", "1,2,4").values, ElementsAre(1, 2, 4));
  EXPECT_THAT(parse_axis("m", "256:1024:256").values, ElementsAre(256, 512, 768, 1024));
  EXPECT_THAT(parse_axis("m", "1:10:4").values, ElementsAre(1, 5, 9));
  EXPECT_THAT(parse_axis("m", "16:128:*2,7").values, ElementsAre(16, 32, 64, 128, 7));
  EXPECT_THAT(parse_axis("m", "5:5:1").values, ElementsAre(5));
}

TEST(SweepAxis, TheEndOfTheIntegersIsNoTrap) {
  constexpr auto kMost = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(parse_axis("m", fmt::format("{}:{}:7", kMost - 10, kMost)).values.size(), 2U);
  EXPECT_EQ(parse_axis("m", fmt::format("1:{}:*2", kMost)).values.size(), 63U);
  EXPECT_THAT(parse_axis("m", fmt::format("{}:{}:{}", -kMost, kMost, kMost)).values,
              ElementsAre(-kMost, 0, kMost));
}

TEST(SweepAxis, RefusesWhatIsNoRange) {
  EXPECT_THROW(parse_axis("m", "1:2"), UsageError);
  EXPECT_THROW(parse_axis("m", "a"), UsageError);
  EXPECT_THROW(parse_axis("m", "1:8:*"), UsageError);
  EXPECT_THROW(parse_axis("m", ""), UsageError);
  EXPECT_THROW(parse_axis("m", "="), UsageError);
  EXPECT_THROW(parse_axis("m", "=10/"), UsageError);
  EXPECT_THROW(parse_axis("m", "=/k"), UsageError);
  EXPECT_THROW(parse_axis("m", "8:1:1"), InputError);
  EXPECT_THROW(parse_axis("m", "1:8:0"), InputError);
  EXPECT_THROW(parse_axis("m", "0:8:*2"), InputError);
  EXPECT_THROW(parse_axis("m", "1:8:*1"), InputError);
  EXPECT_THROW(parse_axis("m", "1:9000000:1"), InputError);
}

std::vector<std::vector<std::int64_t>> all_points(std::span<const Axis> axes) {
  const Points points(axes, 1);
  std::vector<std::vector<std::int64_t>> all(points.count(),
                                             std::vector<std::int64_t>(axes.size()));
  for (std::size_t i = 0; i < points.count(); ++i) points.at(i, all[i]);
  return all;
}

TEST(SweepPoints, LastAxisFastestAndTiesFollow) {
  const std::array axes = {parse_axis("m", "1,2"), parse_axis("n", "=k"), parse_axis("k", "10,20")};
  EXPECT_THAT(all_points(axes), ElementsAre(ElementsAre(1, 10, 10), ElementsAre(1, 20, 20),
                                            ElementsAre(2, 10, 10), ElementsAre(2, 20, 20)));
}

TEST(SweepPoints, ChainsOfTiesAndCircles) {
  const std::array chain = {parse_axis("m", "3"), parse_axis("n", "=m"), parse_axis("k", "=n")};
  std::vector<std::int64_t> values(3);
  Points(chain, 1).at(0, values);
  EXPECT_THAT(values, ElementsAre(3, 3, 3));
  const std::array circle = {parse_axis("m", "=n"), parse_axis("n", "=m")};
  EXPECT_THROW(Points(circle, 1), UsageError);
  const std::array dangling = {parse_axis("m", "=x")};
  EXPECT_THROW(Points(dangling, 1), UsageError);
}

TEST(SweepPoints, AProductKeptConstant) {
  const std::array axes = {parse_axis("rows", "=134217728/cols"),
                           parse_axis("cols", "1024,5000,268435456"), parse_axis("split", "=rows")};
  EXPECT_THAT(all_points(axes),
              ElementsAre(ElementsAre(131072, 1024, 131072), ElementsAre(26843, 5000, 26843),
                          ElementsAre(1, 268435456, 1)));
  const std::array zero = {parse_axis("rows", "=8/cols"), parse_axis("cols", "0")};
  std::vector<std::int64_t> values(2);
  Points(zero, 1).at(0, values);
  EXPECT_THAT(values, ElementsAre(8, 0));
  EXPECT_THROW(parse_axis("rows", "=0/cols"), InputError);
  EXPECT_THROW(parse_axis("rows", "=a/cols"), UsageError);
  const std::array circle = {parse_axis("m", "=8/n"), parse_axis("n", "=8/m")};
  EXPECT_THROW(Points(circle, 1), UsageError);
}

TEST(SweepPoints, RefusesMoreThanAnyoneMeans) {
  const std::array axes = {parse_axis("m", "1:1000:1"), parse_axis("n", "1:1000:1")};
  EXPECT_EQ(Points(axes, 1).count(), kMostPoints);
  EXPECT_THROW(Points(axes, 2), InputError);
}

}  // namespace
}  // namespace roofcast::cli
