#include "validation/calibration/bounded_fit.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>

#include "model/types/problem.hpp"

namespace roofcast::validation {
namespace {

constexpr auto kRead = &Sustained::dram_read_bytes_per_s;
constexpr auto kLaunch = &Sustained::stream_launch_s;

// Least where both values are what is asked for, over twelve decades.
std::function<double(const Gpu&)> distance(double read, double launch) {
  return [=](const Gpu& gpu) {
    return std::abs(std::log(*(gpu.sustained.*kRead) / read)) +
           std::abs(std::log(*(gpu.sustained.*kLaunch) / launch));
  };
}

TEST(BoundedFit, FindsAMinimumInsideTheBounds) {
  const Moving moving[] = {{kRead, 1e12, 1e11, 1e13}, {kLaunch, 1e-6, 1e-7, 1e-4}};
  Gpu gpu;
  EXPECT_LT(fit_bounded(moving, gpu, distance(4e12, 7e-6)), 1e-3);
  EXPECT_NEAR(*gpu.sustained.dram_read_bytes_per_s, 4e12, 1e9);
  EXPECT_NEAR(*gpu.sustained.stream_launch_s, 7e-6, 1e-8);
}

TEST(BoundedFit, StopsAtABoundAndStartsInsideThem) {
  const Moving moving[] = {{kRead, 1e15, 1e11, 1e13}, {kLaunch, 1e-9, 1e-7, 1e-4}};
  Gpu gpu;
  const double cost = fit_bounded(moving, gpu, distance(5e13, 7e-6));
  EXPECT_NEAR(*gpu.sustained.dram_read_bytes_per_s, 1e13, 1e9);
  EXPECT_NEAR(cost, std::log(5.0), 1e-3);
}

TEST(BoundedFit, NothingToMoveIsTheCostAsItStands) {
  Gpu gpu;
  gpu.sustained.dram_read_bytes_per_s = 1e12;
  gpu.sustained.stream_launch_s = 1e-6;
  EXPECT_DOUBLE_EQ(fit_bounded({}, gpu, distance(1e12, 1e-6)), 0);
}

TEST(BoundedFit, ErrorsOfTheCostComeThroughAndBoundsAreChecked) {
  const Moving moving[] = {{kRead, 1e12, 1e11, 1e13}};
  Gpu gpu;
  const auto fails = [](const Gpu&) -> double { throw std::out_of_range("no forecast"); };
  EXPECT_THROW((void)fit_bounded(moving, gpu, fails), std::out_of_range);
  for (const double least : {0.0, -1.0, 2e13}) {
    const Moving wrong[] = {{kRead, 1e12, least, 1e13}};
    EXPECT_THROW((void)fit_bounded(wrong, gpu, distance(1, 1)), InputError) << least;
  }
}

}  // namespace
}  // namespace roofcast::validation
