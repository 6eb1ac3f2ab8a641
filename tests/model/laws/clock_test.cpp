// A board draws no more than its power limit: the clock falls until it does.
#include "model/laws/clock.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "model/constants/laws.hpp"
#include "tests/model/devices.hpp"

namespace roofcast {
namespace {

constexpr double kFlopJ = 1e-11;
constexpr double kForLong = std::numeric_limits<double>::infinity();

Gpu board(double power_w) {
  Gpu gpu = testing::hopper_like();
  gpu.power_w = power_w;
  gpu.sustained.vector_flop_energy_j = kFlopJ;
  return gpu;
}

TEST(Energy, AnInstructionOfAWarpTakesThatOf64Flops) {
  EXPECT_DOUBLE_EQ(energy_of({.warp_instructions = 1e9}, board(700)).sms_j, 64e9 * kFlopJ);
}

TEST(Energy, TensorCoresTakeTheSameInEveryClock) {
  Gpu gpu = board(700);
  const double flops = 1e6 * *gpu.sm.tensor_flop_per_clk[DType::bf16];
  EXPECT_DOUBLE_EQ(energy_of({.tensor_clk = 1e6}, gpu).sms_j,
                   law::kTensorEnergyShare * flops * kFlopJ);
  gpu.sm.tensor_flop_per_clk[DType::bf16].reset();
  gpu.sm.tensor_flop_per_clk[DType::fp16] = 1024;  // a chip without bf16
  EXPECT_DOUBLE_EQ(energy_of({.tensor_clk = 1e6}, gpu).sms_j,
                   law::kTensorEnergyShare * 1024e6 * kFlopJ);
}

TEST(Energy, OfTensorCoresIsTheirOwnWhereItIsKnown) {
  Gpu gpu = board(700);
  gpu.sustained.tensor_flop_energy_j = 2e-12;
  const double flops = 1e6 * *gpu.sm.tensor_flop_per_clk[DType::bf16];
  EXPECT_DOUBLE_EQ(energy_of({.tensor_clk = 1e6}, gpu).sms_j, flops * 2e-12);
  EXPECT_DOUBLE_EQ(energy_of({.warp_instructions = 1e9}, gpu).sms_j, 64e9 * kFlopJ);
}

TEST(Energy, AddsUp) {
  const Gpu gpu = board(700);
  const WorkDone work{.tensor_clk = 1e6, .warp_instructions = 1e6, .dram_bytes = 1e6};
  const Energy all = energy_of(work, gpu);
  EXPECT_DOUBLE_EQ(all.sms_j, energy_of({.tensor_clk = 1e6}, gpu).sms_j +
                                  energy_of({.warp_instructions = 1e6}, gpu).sms_j);
  EXPECT_DOUBLE_EQ(all.dram_j, 1e6 * law::kDramByteEnergy);
  EXPECT_DOUBLE_EQ(all.total_j(), all.sms_j + all.dram_j);
}

TEST(Power, UpToTheLimitNothingSlowsDown) {
  EXPECT_EQ(launch_slowdown(100, 1, board(100)), 0);
  EXPECT_EQ(long_run_slowdown(100, kForLong, board(100)), 0);
  EXPECT_NEAR(long_run_slowdown(100.001, kForLong, board(100)), 0, 1e-5);
}

// By hand: 1.44 times the limit takes 1.2 times as long where the voltage still falls; twice what
// it takes at the least voltage takes twice as long.
TEST(Power, TheClockFallsAsTheRootOfPowerAndThenInProportion) {
  const Gpu gpu = board(100);
  const double least_w = 100 * law::kLeastVoltagePower;
  const auto steady = [&](double power_w) { return long_run_slowdown(power_w, kForLong, gpu); };
  EXPECT_NEAR(steady(144), 0.2, 1e-12);
  EXPECT_NEAR(1 + steady(2 * least_w), 2 * (1 + steady(least_w)), 1e-12);
  EXPECT_NEAR(1 + launch_slowdown(2 * least_w, 1e-6, gpu), 2, 1e-12);  // at once
}

TEST(Power, ALaunchSlowsByDecadesOfItsTime) {
  const Gpu gpu = board(100);
  EXPECT_EQ(launch_slowdown(144, 1e-6, gpu), 0);
  const double decade = launch_slowdown(144, 1e-5, gpu);
  EXPECT_NEAR(decade, 0.2 * law::kSlowdownOfADecade, 1e-12);
  EXPECT_NEAR(launch_slowdown(144, 1e-4, gpu), 2 * decade, 1e-12);
  EXPECT_NEAR(launch_slowdown(144, 100, gpu), 0.2, 1e-12);
}

TEST(Power, ALongRunSlowsDownUpToASteadyPoint) {
  const Gpu gpu = board(100);
  EXPECT_EQ(long_run_slowdown(144, 0, gpu), 0);
  EXPECT_NEAR(long_run_slowdown(144, law::kHeatingSeconds, gpu), 0.1, 1e-12);
  EXPECT_LT(long_run_slowdown(144, 10, gpu), long_run_slowdown(144, kForLong, gpu));
}

TEST(Power, WhatIsNotKnownLowersNothing) {
  Gpu no_energy = board(1);
  no_energy.sustained.vector_flop_energy_j.reset();
  const WorkDone work{.tensor_clk = 1e9, .warp_instructions = 1e9, .dram_bytes = 1e9};
  EXPECT_EQ(energy_of(work, no_energy).total_j(), 0);
  Gpu no_limit = board(1);
  no_limit.power_w.reset();
  EXPECT_EQ(launch_slowdown(1000, 1, no_limit), 0);
  EXPECT_EQ(long_run_slowdown(1000, kForLong, no_limit), 0);
}

}  // namespace
}  // namespace roofcast
