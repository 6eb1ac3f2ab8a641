// The time of tiles, by hand.
#include "model/laws/tile_time.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace roofcast {
namespace {

constexpr double kClock_hz = 1e9;  // a cycle is a nanosecond

// Ten SMs; every constant at a value that leaves it out of the time unless a test sets it.
Gpu device() {
  Gpu gpu;
  gpu.sm_count = 10;
  gpu.sustained.tile_l2_bytes_per_s = 1e30;
  gpu.sustained.tile_dram_bytes_per_s = 1e30;
  return gpu;
}

TileLoop loop(std::int64_t tiles) {
  TileLoop some;
  some.tiles = tiles;
  some.steps = 100;
  some.math_cycles = 50;
  return some;
}

double time_s(const TileLoop& some, const Gpu& gpu, const Traffic& dram = {}) {
  return tile_time(some, dram, {kClock_hz}, gpu).time_s;
}

TEST(TileTime, IsThatOfTheRounds) {
  // 100 steps of 50 ns: one round up to 10 tiles, two up to 20.
  EXPECT_DOUBLE_EQ(time_s(loop(1), device()), 5e-6);
  EXPECT_DOUBLE_EQ(time_s(loop(10), device()), 5e-6);
  EXPECT_DOUBLE_EQ(time_s(loop(11), device()), 10e-6);
  EXPECT_DOUBLE_EQ(time_s(loop(20), device()), 10e-6);
}

TEST(TileTime, OfBlocksThatShareAnSmIsTheFullestSms) {
  TileLoop some = loop(20);
  some.blocks_per_sm = 2;
  EXPECT_DOUBLE_EQ(time_s(some, device()), 10e-6);
  some.tiles = 25;  // 20, then 5 that have an SM each
  EXPECT_DOUBLE_EQ(time_s(some, device()), 15e-6);
}

TEST(TileTime, OfAStepIsTheFourNormOfWhatOverlaps) {
  Gpu gpu = device();
  gpu.sustained.tile_l2_bytes_per_s = 10e9;
  TileLoop some = loop(10);
  some.l2_read_bytes = 50;  // 10 blocks · 50 B ÷ 10 GB/s = 50 ns, as the arithmetic
  EXPECT_NEAR(time_s(some, gpu), 5e-6 * std::pow(2, 0.25), 1e-15);
  gpu.sustained.tile_dram_bytes_per_s = 1e9;  // 5000 B a step of 10 blocks' 1000: 50 ns too
  EXPECT_NEAR(time_s(some, gpu, {5000, 0}), 5e-6 * std::pow(3, 0.25), 1e-15);
  gpu.sustained.tile_step_cycles = 50;
  EXPECT_NEAR(time_s(some, gpu, {5000, 0}), 5e-6 * std::pow(4, 0.25), 1e-15);
}

TEST(TileTime, OfAStepIsTheThreeNormWhereResourcesOverlapLess) {
  Gpu gpu = device();
  gpu.sustained.tile_l2_bytes_per_s = 10e9;
  TileLoop some = loop(10);
  some.overlaps_less = true;
  EXPECT_DOUBLE_EQ(time_s(some, gpu), 5e-6);
  some.l2_read_bytes = 50;
  EXPECT_NEAR(time_s(some, gpu), 5e-6 * std::cbrt(2), 1e-19);
  gpu.sustained.tile_dram_bytes_per_s = 1e9;
  EXPECT_NEAR(time_s(some, gpu, {5000, 0}), 5e-6 * std::cbrt(3), 1e-19);
  gpu.sustained.tile_step_cycles = 25;
  EXPECT_NEAR(time_s(some, gpu, {5000, 0}), 5e-6 * std::cbrt(3.125), 1e-19);
}

TEST(TileTime, OfBlocksThatStayHasTheNextCopiesUnderWayWhileOneIsStored) {
  Gpu gpu = device();
  gpu.sustained.tile_l2_bytes_per_s = 10e9;
  gpu.sustained.tile_outputs_per_clk = 1;
  TileLoop some = loop(20);
  some.math_cycles = 0;
  some.l2_read_bytes = 50;  // 50 ns a step: 5 µs
  some.outputs = 1000;      // 1 µs
  EXPECT_NEAR(time_s(some, gpu), 12e-6, 1e-15);
  some.steps_ahead = 10;  // 0.5 µs of the second round's copies
  EXPECT_NEAR(time_s(some, gpu), 6e-6 + std::pow(1 + std::pow(5.5, 4), 0.25) * 1e-6, 1e-15);
  some.steps_ahead = 100;  // all of them: as if they had been one
  EXPECT_NEAR(time_s(some, gpu), 6e-6 + std::pow(1 + std::pow(5, 4), 0.25) * 1e-6, 1e-15);
}

TEST(TileTime, OfFewBlocksHasAShareOfDram) {
  Gpu gpu = device();
  gpu.sustained.tile_dram_bytes_per_s = 1e9;
  gpu.sustained.tile_dram_sm_share = 0.8;
  TileLoop some = loop(4);  // half of the 8 SMs that fill DRAM: 0.5 GB/s
  some.math_cycles = 0;
  EXPECT_NEAR(time_s(some, gpu, {1000, 0}), 2e-6, 1e-15);
  some.tiles = 8;
  EXPECT_NEAR(time_s(some, gpu, {1000, 0}), 1e-6, 1e-15);
}

TEST(TileTime, OfFewBlocksIsFedByWhatTheyHaveInFlight) {
  Gpu gpu = device();
  gpu.sustained.tile_dram_bytes_per_s = 1e9;
  gpu.sustained.tile_dram_sm_share = 0.8;
  gpu.sustained.tile_load_latency_cycles = 1000;  // 1 µs
  TileLoop some = loop(4);
  some.math_cycles = 0;
  some.in_flight_bytes = 125;  // 4 · 125 B a microsecond: 0.5 GB/s
  EXPECT_NEAR(time_s(some, gpu, {1000, 0}), std::pow(std::pow(2, 4) + 1, 0.25) * 1e-6, 1e-15);
  some.in_flight_cycles = 3000;  // and three to copy them
  EXPECT_NEAR(time_s(some, gpu, {1000, 0}), std::pow(std::pow(8, 4) + 1, 0.25) * 1e-6, 1e-15);
  some.in_flight_bytes = 500;
  some.in_flight_cycles = 0;
  EXPECT_NEAR(time_s(some, gpu, {1000, 0}), std::pow(std::pow(0.5, 4) + 1, 0.25) * 1e-6, 1e-15);
}

TEST(TileTime, OfABlockAloneHasItsOwnWaits) {
  TileLoop some = loop(10);
  some.blocks_per_sm = 2;
  some.alone_cycles = 80;
  EXPECT_NEAR(time_s(some, device()), 8e-6, 1e-15);
  some.tiles = 20;  // two hide them: 2 · 50
  EXPECT_NEAR(time_s(some, device()), 10e-6, 1e-15);
}

TEST(TileTime, StoresInPartsOfSectorsOneByOne) {
  TileLoop some = loop(10);
  some.scattered_sectors = 1000;  // 1.55 clocks each
  EXPECT_NEAR(time_s(some, device()), 6.55e-6, 1e-15);
}

TEST(TileTime, WarpsThatTakeTurnsStoreAtHalfTheRate) {
  Gpu gpu = device();
  gpu.sustained.tile_outputs_per_clk = 4;
  TileLoop some = loop(100);  // ten rounds of 5 µs
  some.stores_meanwhile = true;
  some.outputs = 10000;  // 2.5 µs by all warps, hidden behind the next tile; the last one's is not
  EXPECT_NEAR(time_s(some, gpu), 55e-6, 1e-14);
  some.outputs = 12000;  // 3 µs: (5 + 6) / 2 for each of nine tiles, 5 + 6 for the last one
  EXPECT_NEAR(time_s(some, gpu), 60.5e-6, 1e-14);
  some.tiles = 10;  // nothing hides the only one's
  EXPECT_NEAR(time_s(some, gpu), 11e-6, 1e-14);
  some.tiles = 100;  // nor what threads store sector by sector, here 1.55 µs
  some.outputs = 0;
  some.scattered_sectors = 1000;
  EXPECT_NEAR(time_s(some, gpu), 50e-6 + 9 * 1.55e-6 + 2 * 1.55e-6, 1e-14);
}

TEST(TileTime, SumsApartAreStoredWhileTheNextTileIsMultiplied) {
  Gpu gpu = device();
  gpu.sustained.tile_outputs_per_clk = 4;
  TileLoop some = loop(100);  // ten rounds of 5 µs
  some.sums_apart = true;
  some.outputs = 20000;  // 5 µs, hidden but for the last tile's
  EXPECT_NEAR(time_s(some, gpu), 55e-6, 1e-14);
  some.outputs = 24000;  // 6 µs each round, and the last one's loop before
  EXPECT_NEAR(time_s(some, gpu), 66e-6, 1e-14);
}

TEST(TileTime, BlocksInTurnStoreWhileOthersMultiply) {
  Gpu gpu = device();
  gpu.sustained.tile_outputs_per_clk = 4;
  TileLoop some = loop(20);
  some.blocks_per_sm = 2;
  some.outputs = 4000;                                          // 1 µs
  some.blocks_in_turn = true;                                   // tensor cores hide none of it
  EXPECT_NEAR(time_s(some, gpu), 12e-6 + 0.07 * 10e-6, 1e-15);  // its steps are in step
  some.on_tensor_cores = false;
  EXPECT_NEAR(time_s(some, gpu), 11e-6, 1e-15);
}

TEST(TileTime, ABlockInTurnThatIsAloneWaitsForItsTilesAndStoresWithAllOthers) {
  Gpu gpu = device();
  gpu.sustained.tile_outputs_per_clk = 4;
  gpu.sustained.tile_load_latency_cycles = 300;
  gpu.sustained.block_launch_cycles = 200;
  TileLoop some = loop(20);  // two rounds of 5 µs
  some.blocks_in_turn = true;
  some.on_tensor_cores = false;
  some.outputs = 4000;  // 1 µs
  EXPECT_NEAR(time_s(some, gpu), 12.5e-6, 1e-15);
  gpu.sustained.tile_dram_bytes_per_s = 1e9;  // 2 µs for ten tiles of 200 B
  EXPECT_NEAR(time_s(some, gpu, {0, 4000}), 14.5e-6, 1e-15);
}

TEST(TileTime, CountsTheEpilogueAndTheWritesThatItDoesNotHide) {
  Gpu gpu = device();
  gpu.sustained.tile_outputs_per_clk = 4;
  TileLoop some = loop(10);
  some.outputs = 4000;  // 1 µs
  EXPECT_NEAR(time_s(some, gpu), 6e-6, 1e-15);
  gpu.sustained.tile_dram_bytes_per_s = 1e9;
  EXPECT_NEAR(time_s(some, gpu, {0, 6000}), 6e-6, 1e-15);  // hidden to the last
  EXPECT_NEAR(time_s(some, gpu, {0, 8000}), 8e-6, 1e-15);
}

TEST(TileTime, ResultsCrossDramBesidesOperands) {
  Gpu gpu = device();
  gpu.sustained.tile_dram_bytes_per_s = 1e9;
  TileLoop some = loop(10);
  some.math_cycles = 0;
  EXPECT_NEAR(time_s(some, gpu, {5000, 8000}), 13e-6, 1e-15);
  some.math_cycles = 200;  // 20 µs of arithmetic hide both
  EXPECT_NEAR(time_s(some, gpu, {5000, 8000}), 20e-6 * std::pow(1 + 1.0 / 256, 0.25), 1e-15);
}

TEST(TileTime, StoresThatLeaveSectorsInPartAreMergedByL2) {
  Gpu gpu = device();
  TileLoop some = loop(10);
  some.math_cycles = 0;
  some.merged_writes = 300;
  EXPECT_EQ(time_s(some, gpu), 0);  // no rate is known
  gpu.sustained.l2_partial_writes_per_s = 1e9;
  EXPECT_NEAR(time_s(some, gpu), 10 * 300e-9, 1e-15);
}

TEST(TileTime, WhatASplitCostsIsNotPaidTwice) {
  Gpu gpu = device();
  gpu.sustained.tile_split_cycles = 1000;
  TileLoop some = loop(5);
  some.splits = 2;
  const double once_s = time_s(some, gpu);
  some.split_is_counted = true;
  EXPECT_NEAR(once_s - time_s(some, gpu), 1e-6, 1e-15);
}

TEST(TileTime, ABlockInTurnThatIsAloneFillsAnewInEachRound) {
  Gpu gpu = device();
  gpu.sustained.tile_load_latency_cycles = 1000;
  gpu.sustained.block_launch_cycles = 200;
  TileLoop some = loop(30);
  some.blocks_in_turn = true;
  // The first round's is the launch's, and its steps are in step.
  EXPECT_NEAR(time_s(some, gpu), 15e-6 + 4e-6 + 0.07 * 5e-6, 1e-15);
  some.on_tensor_cores = false;
  EXPECT_NEAR(time_s(some, gpu), 15e-6 + 2.4e-6, 1e-15);
  some.blocks_per_sm = 2;  // another hides it
  EXPECT_NEAR(time_s(some, gpu), 15e-6, 1e-15);
  some.start_cycles = 500;
  EXPECT_NEAR(time_s(some, gpu), 15.5e-6, 1e-15);
}

TEST(TileTime, BeginsWithAFillAndMoreWhereTheDepthIsSplit) {
  Gpu gpu = device();
  gpu.sustained.tile_fill_cycles = 2000;
  gpu.sustained.tile_split_cycles = 3000;
  EXPECT_NEAR(time_s(loop(10), gpu), 7e-6, 1e-15);
  TileLoop split = loop(5);
  split.splits = 2;
  EXPECT_NEAR(time_s(split, gpu), 10e-6, 1e-15);
}

TEST(TileTime, OfALastRoundThatIsSplitIsThatOfItsParts) {
  TileLoop some = loop(13);  // three tiles are left
  some.rest_splits = 3;      // nine parts of 34 steps
  EXPECT_NEAR(time_s(some, device()), 5e-6 + 34 * 50e-9, 1e-15);
  some.rest_splits = 5;  // fifteen of 20: two rounds
  EXPECT_NEAR(time_s(some, device()), 7e-6, 1e-15);
  some.tiles = 20;  // nothing is left
  EXPECT_DOUBLE_EQ(time_s(some, device()), 10e-6);
  Gpu gpu = device();
  gpu.sm_count = 132;
  some = loop(153);
  some.steps = 102;
  EXPECT_NEAR(time_s(some, gpu), 2 * 102 * 50e-9, 1e-15);
  some.rest_splits = 6;  // 126 parts of 17
  EXPECT_NEAR(time_s(some, gpu), (1 + 1.0 / 6) * 102 * 50e-9, 1e-15);
}

TEST(TileTime, OfALastRoundThatIsSplitMovesTheSameBytes) {
  Gpu gpu = device();
  gpu.sustained.tile_dram_bytes_per_s = 1e9;
  gpu.sustained.tile_dram_sm_share = 0.3;  // three SMs fill DRAM
  TileLoop some = loop(13);
  some.math_cycles = 0;
  EXPECT_NEAR(time_s(some, gpu, {20000, 0}), 20e-6, 1e-15);
  EXPECT_NEAR(time_s(some, gpu, {0, 20000}), 20e-6, 1e-15);
  some.rest_splits = 3;
  EXPECT_NEAR(time_s(some, gpu, {20000, 0}), 20e-6, 1e-15);
  EXPECT_NEAR(time_s(some, gpu, {0, 20000}), 20e-6, 1e-15);
}

TEST(TileTime, PartsThatAreJoinedAreLeftAndRead) {
  Gpu gpu = device();
  gpu.sustained.tile_outputs_per_clk = 4;
  gpu.sustained.l2_bandwidth_bytes_per_s = 10e9;
  TileLoop some = loop(13);
  some.outputs = 400;       // 0.1 us of a tile
  some.part_outputs = 800;  // 0.2
  some.joined_bytes = 100;  // 0.03, three tiles at once
  some.rest_splits = 3;     // nine parts in one round: the last of three adds two
  const double loops_s = 5e-6 + 34 * 50e-9;
  EXPECT_NEAR(time_s(some, gpu), loops_s + 0.1e-6 + (0.2 + 2 * 0.03 + 0.1) * 1e-6, 1e-12);
  gpu.sm.l2_bytes_per_clk = 0.25;  // 0.4 us for one SM
  EXPECT_NEAR(time_s(some, gpu), loops_s + 0.1e-6 + (0.4 + 2 * 0.4 + 0.1) * 1e-6, 1e-12);
  gpu.sustained.tile_load_latency_cycles = 500;  // until they are written, and seen
  gpu.sustained.l2_latency_cycles = 300;         // twice for each
  some.joined_trips = 2;
  EXPECT_NEAR(time_s(some, gpu), loops_s + 0.1e-6 + (0.4 + 2 * 0.5 + 2 * 0.6 + 0.1) * 1e-6, 1e-12);
  some.rest_splits = 5;  // fifteen parts of 20 steps in two rounds: those of the first are left
  EXPECT_NEAR(time_s(some, gpu),
              5e-6 + 2 * 20 * 50e-9 + 0.1e-6 + (0.4 + 0.4 + 2 * 0.5 + 4 * 0.6 + 0.1) * 1e-6, 1e-12);
  // Two groups of warps in turns: no tile follows the last parts, so nothing hides how they are joined.
  some.rest_splits = 3;
  some.stores_meanwhile = true;
  EXPECT_NEAR(time_s(some, gpu), loops_s + (0.4 + 2 * 0.5 + 2 * 0.6 + 2 * 0.1) * 1e-6, 1e-12);
}

TEST(TileTime, TakesTheEfficiencyOfThePipes) {
  Gpu gpu = device();
  gpu.sustained.tile_math_efficiency = 0.5;
  gpu.sustained.tile_vector_efficiency = 0.25;
  TileLoop some = loop(10);
  EXPECT_NEAR(time_s(some, gpu), 10e-6, 1e-15);
  some.on_tensor_cores = false;
  EXPECT_NEAR(time_s(some, gpu), 20e-6, 1e-15);
  some.copy_cycles = 300;  // copies in pieces keep the SM busy for longer than the arithmetic
  EXPECT_NEAR(time_s(some, gpu), 30e-6, 1e-15);
}

TEST(TileTime, PartsAddUp) {
  Gpu gpu = device();
  gpu.sustained.tile_fill_cycles = 2000;
  gpu.sustained.tile_outputs_per_clk = 4;
  gpu.sustained.tile_dram_bytes_per_s = 1e9;
  gpu.sustained.power_free_share = 0.1;
  gpu.sustained.power_slowdown = 0.1;
  TileLoop some = loop(13);
  some.outputs = 4000;
  some.useful_cycles = 13 * 100 * 50;
  for (const std::int64_t splits : {1, 2, 5}) {
    some.rest_splits = splits;
    const TileTime time = tile_time(some, {2000, 9000}, {kClock_hz}, gpu);
    EXPECT_GT(time.tail_s, 0);
    EXPECT_GT(time.slowdown_s, 0);
    EXPECT_NEAR(
        time.loop_s + time.epilogue_s + time.write_s + time.tail_s + time.fill_s + time.slowdown_s,
        time.time_s, 1e-15);
  }
}

TEST(PowerSlowdown, BeginsWhereTheTensorCoresAreBusyAndGrowsWithTheDuration) {
  Gpu gpu;
  EXPECT_EQ(power_slowdown(1, 1, {kClock_hz}, gpu), 0);  // no constants
  gpu.sustained.power_free_share = 0.6;
  gpu.sustained.power_slowdown = 0.1;
  EXPECT_EQ(power_slowdown(0.6, 1e-3, {kClock_hz}, gpu), 0);
  EXPECT_NEAR(power_slowdown(0.8, 1e-3, {kClock_hz}, gpu), 0.15, 1e-12);  // half of 3 decades
  EXPECT_NEAR(power_slowdown(1, 1e-3, {kClock_hz}, gpu), 0.3, 1e-12);
  EXPECT_EQ(power_slowdown(1, 1e-7, {kClock_hz}, gpu), 0);
  // Launches without a pause: as one of forty times the duration.
  EXPECT_NEAR(power_slowdown(1, 2.5e-4, {kClock_hz, false, true}, gpu), 0.4, 1e-12);
}

TEST(PowerSlowdown, LeavesAGivenClock) {
  Gpu gpu = device();
  gpu.sustained.power_free_share = 0.1;
  gpu.sustained.power_slowdown = 0.1;
  TileLoop some = loop(10);
  some.useful_cycles = 10 * 5000;
  EXPECT_GT(tile_time(some, {}, {kClock_hz}, gpu).time_s, 5e-6);
  EXPECT_DOUBLE_EQ(tile_time(some, {}, {kClock_hz, true}, gpu).time_s, 5e-6);
}

}  // namespace
}  // namespace roofcast
