// Busy tensor cores lower the clock, and a board does not spend more than its power limit.
#include "model/laws/clock.hpp"

#include <gtest/gtest.h>

#include "model/constants/laws.hpp"
#include "tests/model/devices.hpp"

namespace roofcast {
namespace {

// By hand, of tensor cores that are always busy: 0.1 for each tenfold of a microsecond.
TEST(TensorPower, WorkWithoutAPauseSlowsDownUpToASteadyPoint) {
  Gpu gpu = testing::hopper_like();
  gpu.sustained.power_free_share = 0.25;
  gpu.sustained.power_slowdown = 0.1;
  const auto slowdown = [&](double time_s, double worked_s) {
    return tensor_power_slowdown(1, time_s, worked_s, gpu);
  };
  EXPECT_NEAR(slowdown(100e-6, 0), 0.2, 1e-12);
  EXPECT_NEAR(slowdown(100e-6, 10e-6), 0.2, 1e-12);
  EXPECT_NEAR(slowdown(100e-6, 10e-3), 0.4, 1e-12);
  EXPECT_EQ(slowdown(100e-6, 1), slowdown(100e-6, 100));
  EXPECT_LT(slowdown(100e-6, 1), 0.5);
  EXPECT_NEAR(slowdown(1, 100), 0.6, 1e-12);
  EXPECT_EQ(tensor_power_slowdown(0.25, 1, 100, gpu), 0);
}

constexpr double kFlopJ = 8e-12;

Gpu board(double power_w) {
  Gpu gpu = testing::hopper_like();
  gpu.power_w = power_w;
  gpu.sustained.vector_flop_energy_j = kFlopJ;
  return gpu;
}

Plan vector_work(double flops, DType type = DType::fp32) {
  Plan plan;
  plan.compute = type;
  plan.useful.vector_flops = flops;
  return plan;
}

// 10 TFLOP/s at 8 pJ take 80 W.
TEST(BoardPower, ALaunchTakesAsLongAsItsEnergyAtTheLimit) {
  const Plan plan = vector_work(10e12);
  EXPECT_NEAR(board_power_slowdown(plan, 1, board(80)), 0, 1e-12);
  EXPECT_NEAR(board_power_slowdown(plan, 1, board(40)), 1, 1e-12);
  EXPECT_NEAR(board_power_slowdown(plan, 2, board(40)), 0, 1e-12);
  EXPECT_EQ(board_power_slowdown(plan, 1, board(160)), 0);
}

TEST(BoardPower, AFlopCostsByTheBytesOfItsType) {
  const Gpu gpu = board(20);
  EXPECT_NEAR(board_power_slowdown(vector_work(10e12, DType::fp16), 1, gpu), 1, 1e-12);
  Plan tensor;
  tensor.useful.tensor_flops[DType::fp16] = 10e12 / law::kTensorEnergyShare;
  EXPECT_NEAR(board_power_slowdown(tensor, 1, gpu), 1, 1e-12);
}

TEST(BoardPower, WhatIsNotKnownLowersNothing) {
  Gpu no_energy = board(1);
  no_energy.sustained.vector_flop_energy_j.reset();
  Gpu no_limit = board(1);
  no_limit.power_w.reset();
  for (const Gpu& gpu : {no_energy, no_limit}) {
    EXPECT_EQ(board_power_slowdown(vector_work(10e12), 1, gpu), 0);
  }
}

}  // namespace
}  // namespace roofcast
