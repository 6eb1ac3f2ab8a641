// Blocks of unequal length whose copies run ahead, on a device with round numbers: 132 SMs at 2 GHz,
// 4096 FLOP a clock on the tensor cores, 16 special results.
#include "model/laws/tile_classes.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/model/devices.hpp"

namespace roofcast {
namespace {

constexpr double kClock_hz = 2e9;
constexpr double kStepCycles = 1000;

Step products() {
  Step step;
  step.issued.tensor_flops[DType::bf16] = 4096 * kStepCycles;
  return step;
}

Plan plan_of(std::initializer_list<std::pair<std::int64_t, double>> classes) {
  Plan plan;
  plan.pipelined = true;
  plan.launch.block[0] = 256;
  plan.launch.grid[0] = 0;
  for (const auto& [count, steps] : classes) {
    plan.launch.grid[0] += count;
    plan.blocks.push_back({count, {{products(), steps, 2}}});
  }
  return plan;
}

double time_s(const Plan& plan, const Gpu& gpu, std::int64_t blocks_per_sm = 1) {
  const Occupancy occupancy{blocks_per_sm, 8 * blocks_per_sm, OccupancyLimiter::registers};
  return tile_classes_time(plan, occupancy, {}, {kClock_hz, true}, gpu).time.time_s;
}

TEST(TileClasses, EqualBlocksTakeRounds) {
  const Gpu gpu = testing::hopper_like();
  EXPECT_DOUBLE_EQ(time_s(plan_of({{132, 10}}), gpu), 10 * kStepCycles / kClock_hz);
  EXPECT_DOUBLE_EQ(time_s(plan_of({{133, 10}}), gpu), 20 * kStepCycles / kClock_hz);
}

TEST(TileClasses, LongBlocksFirstLeaveNoTail) {
  const Gpu gpu = testing::hopper_like();
  // 132 of 3 steps, then 264 of 1 and 132 of 1: each place takes 3 + 1 + 1 + 1.
  EXPECT_DOUBLE_EQ(time_s(plan_of({{132, 3}, {396, 1}}), gpu), 6 * kStepCycles / kClock_hz);
  // 66 long ones run beside three short ones each; begun last, from the first free place on.
  EXPECT_DOUBLE_EQ(time_s(plan_of({{66, 3}, {198, 1}}), gpu), 3 * kStepCycles / kClock_hz);
  EXPECT_DOUBLE_EQ(time_s(plan_of({{198, 1}, {66, 3}}), gpu), 4 * kStepCycles / kClock_hz);
}

TEST(TileClasses, ABlockCopiesWhatItHasOnItsWay) {
  Gpu gpu = testing::hopper_like();
  gpu.sustained.tile_load_latency_cycles = 1000;
  Plan plan = plan_of({{1, 10}});
  Step& step = plan.blocks.front().phases.front().step;
  step.issued.tensor_flops[DType::bf16] = 0;
  step.issued.l2.read_bytes = 32000;
  plan.in_flight_bytes = 16000;  // in 500 ns
  EXPECT_NEAR(time_s(plan, gpu), 10 * 1e-6, 0.01 * 10e-6);
}

TEST(TileClasses, BlocksAfterTheFirstRoundHaveDriftedApart) {
  Gpu gpu = testing::hopper_like();
  gpu.sustained.dram_latency_cycles = 2 * kStepCycles;
  gpu.sustained.tile_l2_bytes_per_s = 1e12;
  const auto rounds_s = [&gpu](std::int64_t rounds) {
    Plan plan = plan_of({{132 * rounds, 1}});
    Step& step = plan.blocks.front().phases.front().step;
    step.issued.l2.read_bytes = 1e12 * 5 * kStepCycles / kClock_hz / 132;  // of all: five steps
    Step wait;
    wait.waits.global = 1;
    plan.blocks.front().phases.insert(plan.blocks.front().phases.begin(), {wait});
    return time_s(plan, gpu) * kClock_hz / kStepCycles;
  };
  // First all wait, then all load; later what a block waits and multiplies lies beneath.
  const double loop = std::pow(std::pow(5, 4) + 1, 0.25);
  EXPECT_NEAR(rounds_s(1), 2 + loop, 1e-9);
  const double later = std::pow(std::pow(5, 4) + std::pow(2 + 1, 4), 0.25);
  EXPECT_NEAR(rounds_s(3), 2 + loop + 2 * later, 1e-9);
}

TEST(TileClasses, PipesOverlapImperfectly) {
  Gpu gpu = testing::hopper_like();
  gpu.sustained.overlap_exponent = 2;  // of eight warps
  Plan plan = plan_of({{132, 2}});
  plan.blocks.front().phases.front().step.issued.special_flops = 16 * kStepCycles;
  EXPECT_DOUBLE_EQ(time_s(plan, gpu), 2 * std::sqrt(2) * kStepCycles / kClock_hz);
}

TEST(TileClasses, ABlockWaitsForItsFirstTilesWhileOthersWork) {
  Gpu gpu = testing::hopper_like();
  gpu.sustained.tile_fill_cycles = 500;
  const double fill_s = 500 / kClock_hz, step_s = kStepCycles / kClock_hz;
  const auto waiting = [](std::int64_t count) {
    Plan plan = plan_of({{count, 2}});
    Step load;
    load.waits.tile_loads = 1;
    plan.blocks.front().phases.insert(plan.blocks.front().phases.begin(), {load});
    return plan;
  };
  // The first blocks wait together, others of the SM hide what later ones wait.
  EXPECT_DOUBLE_EQ(time_s(waiting(132), gpu), fill_s + 2 * step_s);
  EXPECT_DOUBLE_EQ(time_s(waiting(264), gpu), 2 * (fill_s + 2 * step_s));
  EXPECT_DOUBLE_EQ(time_s(waiting(264), gpu, 2), fill_s + 4 * step_s);
  EXPECT_DOUBLE_EQ(time_s(waiting(528), gpu, 2), fill_s + 8 * step_s);
  // Copies of threads need no maps and barriers.
  gpu.sustained.tile_load_latency_cycles = 200;
  EXPECT_DOUBLE_EQ(time_s(waiting(132), gpu), 200 / kClock_hz + 2 * step_s);
  Plan in_bulk = waiting(132);
  in_bulk.needs = {Instruction::bulk_copy};
  EXPECT_DOUBLE_EQ(time_s(in_bulk, gpu), fill_s + 2 * step_s);
}

// 40 multiply-adds of 4 cycles and 2 barriers of 20 in each step of 1000 cycles: a warp on each of the
// four schedulers waits them out, two hide half of each other's, another block all of it.
TEST(TileClasses, ABlockAloneWaitsOutItsLatency) {
  Gpu gpu = testing::hopper_like();
  gpu.sustained.fma_latency_cycles = 4;
  gpu.sustained.barrier_cycles = 20;
  Plan plan = plan_of({{132, 3}});
  plan.blocks.front().phases.front().step.waits = {.arithmetic = 40, .barriers = 2};
  plan.launch.block[0] = 128;
  EXPECT_DOUBLE_EQ(time_s(plan, gpu, 2), 3 * 1200 / kClock_hz);
  plan.launch.block[0] = 256;
  EXPECT_DOUBLE_EQ(time_s(plan, gpu, 2), 3 * 1100 / kClock_hz);
  plan.launch.grid[0] = plan.blocks.front().count = 264;
  EXPECT_DOUBLE_EQ(time_s(plan, gpu, 2), 3 * 2000 / kClock_hz);
}

// 132 blocks of 8 steps, and 12 of 2 beside the first of them: 4 steps' time goes by while both run,
// then 6 steps are left. Equal blocks share to the end.
TEST(TileClasses, BlocksOfOneRoundShareAnSmWhileBothRun) {
  const Gpu gpu = testing::hopper_like();
  EXPECT_DOUBLE_EQ(time_s(plan_of({{132, 8}, {12, 2}}), gpu, 2), 10 * kStepCycles / kClock_hz);
  EXPECT_DOUBLE_EQ(time_s(plan_of({{100, 8}, {44, 8}}), gpu, 2), 16 * kStepCycles / kClock_hz);
}

// Blocks that stay are launched once, whatever the tiles they take.
TEST(TileClasses, BlocksThatStayAreNotLaunchedAgain) {
  Gpu gpu = testing::hopper_like();
  gpu.sustained.block_launch_cycles = 100;
  Plan plan = plan_of({{264, 2}});
  EXPECT_DOUBLE_EQ(time_s(plan, gpu), 2 * (2 * kStepCycles + 100) / kClock_hz);
  plan.launch.grid[0] = 132;
  for (const TileScheduler scheduler : {TileScheduler::persistent, TileScheduler::queue}) {
    plan.scheduler = scheduler;
    EXPECT_DOUBLE_EQ(time_s(plan, gpu), 4 * kStepCycles / kClock_hz);
  }
}

// A loop's results leave with its loads, those of an epilogue after them.
TEST(TileClasses, WhatALoopWritesLeavesBesideWhatItReads) {
  Gpu gpu = testing::hopper_like();
  gpu.sustained.tile_outputs_per_clk = 8;
  gpu.sustained.tile_l2_bytes_per_s = 132 * 1e4 / (2 * kStepCycles / kClock_hz);
  Plan plan = plan_of({{132, 10}});
  Step& step = plan.blocks.front().phases.front().step;
  step.issued = {};
  step.issued.l2 = {0.4e4, 0.6e4};
  EXPECT_DOUBLE_EQ(time_s(plan, gpu), 10 * 2 * kStepCycles / kClock_hz);
  step.issued.l2 = {1e4, 0};
  EXPECT_DOUBLE_EQ(time_s(plan, gpu), 10 * 2 * kStepCycles / kClock_hz);
  step.issued.l2 = {0, 1600};
  plan.blocks.front().phases.front().stages = 1;
  EXPECT_DOUBLE_EQ(time_s(plan, gpu), 10 * 100 / kClock_hz);
}

TEST(TileClasses, PartsAddUp) {
  Gpu gpu = testing::hopper_like();
  gpu.sustained.tile_fill_cycles = 500;
  gpu.sustained.tile_outputs_per_clk = 8;
  Plan plan = plan_of({{100, 5}, {100, 2}});
  for (BlockClass& blocks : plan.blocks) {
    Step epilogue;
    epilogue.issued.l2.write_bytes = 16 * 8 * 100;
    blocks.phases.push_back({epilogue});
  }
  const Occupancy occupancy{1, 8, OccupancyLimiter::registers};
  const TileTime found = tile_classes_time(plan, occupancy, {0, 1e6}, {kClock_hz, true}, gpu).time;
  EXPECT_GT(found.epilogue_s, 0);
  EXPECT_DOUBLE_EQ(found.time_s, found.loop_s + found.epilogue_s + found.write_s + found.tail_s +
                                     found.fill_s + found.slowdown_s);
}

}  // namespace
}  // namespace roofcast
