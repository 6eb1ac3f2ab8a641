// What L1 and L2 still hold, of this launch and of the launches before it.
#include <gtest/gtest.h>

#include <cmath>

#include "model/constants/laws.hpp"
#include "model/laws/l1_reuse.hpp"
#include "model/laws/l2_reuse.hpp"
#include "tests/model/devices.hpp"
#include "tests/model/plans.hpp"

namespace roofcast {
namespace {

/// A device whose L2 keeps 60 MB for reuse.
Gpu holding_60_mb() {
  Gpu gpu = testing::hopper_like();
  gpu.memory.l2_bytes = 60e6 / law::kL2ResidentShare;
  return gpu;
}

TEST(L2Reuse, NothingMissesUntilTheCapacity) {
  Gpu gpu = holding_60_mb();
  const double gone = 60e6 * (1 + law::kL2GradualEviction), half = (60e6 + gone) / 2;
  EXPECT_EQ(l2_miss_share(60e6, Readers::all, gpu), 0);
  EXPECT_NEAR(l2_miss_share(half, Readers::all, gpu), 0.5, 1e-12);
  EXPECT_NEAR(l2_miss_share(gone, Readers::all, gpu), 1, 1e-12);
  *gpu.memory.l2_bytes /= 2;
  EXPECT_NEAR(l2_miss_share(half / 2, Readers::all, gpu), 0.5, 1e-12);
}

// With two partitions L2 keeps two copies of what every SM reads: 30 of 60 MB. Of what one SM reads
// it copies the half whose lines belong to the other partition: 40 of 60 MB.
TEST(L2Reuse, PartitionsHoldCopies) {
  Gpu gpu = holding_60_mb();
  gpu.memory.l2_partitions = 2;
  EXPECT_EQ(l2_miss_share(30e6, Readers::all, gpu), 0);
  EXPECT_GT(l2_miss_share(31e6, Readers::all, gpu), 0);
  EXPECT_EQ(l2_miss_share(40e6, Readers::one, gpu), 0);
  EXPECT_GT(l2_miss_share(41e6, Readers::one, gpu), 0);
  gpu.memory.l2_partitions = 1;
  EXPECT_EQ(l2_miss_share(60e6, Readers::one, gpu), 0);
}

// L2 holds the last 30 MB of traffic, of which half are writes.
TEST(L2Reuse, DirtyLinesStayBehind) {
  Gpu gpu = holding_60_mb();
  gpu.memory.l2_bytes = 30e6 / law::kL2DirtyShare;
  EXPECT_DOUBLE_EQ(left_dirty_bytes({100e6, 100e6}, gpu), 15e6);
  EXPECT_EQ(left_dirty_bytes({10e6, 10e6}, gpu), 10e6);
  EXPECT_EQ(left_dirty_bytes({100e6, 0}, gpu), 0);
  EXPECT_EQ(left_dirty_bytes({0, 1}, gpu), 1);
}

Traffic raster_traffic(const TileRaster& raster, std::int64_t at_once) {
  Gpu gpu = holding_60_mb();
  gpu.sm_count = at_once;
  Plan plan;
  plan.launch.grid = {raster.tile_columns, raster.tile_rows, 1};
  plan.raster = raster;
  const Occupancy one_a_sm{1, 1, OccupancyLimiter::blocks};
  return testing::dram_traffic(plan, one_a_sm, gpu);
}

TEST(L2Reuse, PanelsComeAgainWhenAWaveCannotHoldTheGrid) {
  // 100×100 tiles, 100 at once: a wave is one row of tiles and sweeps all of B (1 GB), far more
  // than L2 holds: B comes again 99 times.
  const TileRaster square = {
      .tile_rows = 100, .tile_columns = 100, .row_panel_bytes = 1e7, .column_panel_bytes = 1e7};
  EXPECT_NEAR(raster_traffic(square, 100).read_bytes, 99e9, 1e6);
  // All at once: nothing comes again.
  EXPECT_EQ(raster_traffic(square, 10000).read_bytes, 0);
  // Ten rows at once sweep B ten times.
  EXPECT_NEAR(raster_traffic(square, 1000).read_bytes, 9e9, 1e6);
  // Half a row at once: A comes twice too, all of it.
  EXPECT_NEAR(raster_traffic(square, 50).read_bytes, 99e9 + 1e9, 1e6);
  // Groups of four rows, 100 blocks at once: 25 columns, so A comes four times and B 25.
  TileRaster grouped = square;
  grouped.group_rows = 4;
  EXPECT_NEAR(raster_traffic(grouped, 100).read_bytes, 24e9 + 3e9, 1e6);
}

// 6×32 tiles, 142 at once: a wave takes rows of 32 columns, 142/32 of them, then the 50 tiles left
// take 50/32 rows and sweep all columns again.
TEST(L2Reuse, TheLastWaveTouchesItsOwnPanels) {
  const TileRaster raster = {
      .tile_rows = 6, .tile_columns = 32, .row_panel_bytes = 100, .column_panel_bytes = 1000};
  EXPECT_DOUBLE_EQ(distinct_wave_bytes(raster, 142),
                   142 / 32.0 * 100 + 32000 + 50 / 32.0 * 100 + 32000);
  // All at once: each panel once. Twelve of a row's 32 columns at once: 16 waves, none cut.
  EXPECT_DOUBLE_EQ(distinct_wave_bytes(raster, 1000), 600 + 32000);
  EXPECT_DOUBLE_EQ(distinct_wave_bytes(raster, 12), 16 * (100 + 12000));
  // 15 tiles in a last wave of less than a row touch as many columns.
  EXPECT_DOUBLE_EQ(distinct_wave_bytes(raster, 177), 177 / 32.0 * 100 + 32000 + 100 + 15000);
}

// Small panels are still in L2 when they are read again, but for B where it is larger than L2.
TEST(L2Reuse, PanelsThatL2KeepsDoNotComeAgain) {
  TileRaster raster = {
      .tile_rows = 10, .tile_columns = 100, .row_panel_bytes = 1e5, .column_panel_bytes = 1e5};
  EXPECT_EQ(raster_traffic(raster, 50).read_bytes, 0);  // 100 · 0.1 + 0.1 MB
  raster.column_panel_bytes = 6.3e5;                    // B is 63 MB, with a row of A 63.1
  EXPECT_NEAR(raster_traffic(raster, 50).read_bytes,
              63e6 * 9 * (63.1 / 60 - 1) / law::kL2GradualEviction, 1);
}

// A copy by 100 blocks: 120 MB read, 120 MB written.
Plan copy_of_100_blocks(const AccessPattern& stores) {
  Plan plan;
  plan.launch.grid[0] = 100;
  plan.arrays = {
      {.array = 0, .compulsory = {120e6, 0}, .footprint = {120e6, 0}},
      {.array = 1, .compulsory = {0, 120e6}, .footprint = {0, 120e6}, .pattern = stores}};
  return plan;
}

// A quarter of the blocks are resident: while a sector is open, a quarter of the 240 MB passes, 60
// MB, which is what L2 keeps.
TEST(L2Reuse, OpenSectorsAreWrittenBackEarly) {
  Gpu gpu = holding_60_mb();
  gpu.sm_count = 25;
  const Plan plan = copy_of_100_blocks({.open_write_bytes = 120e6});
  const Traffic dram = testing::dram_traffic(plan, {1, 1, OccupancyLimiter::blocks}, gpu);
  const double early = 120e6 * (1 - std::exp(-1.0));
  EXPECT_NEAR(dram.read_bytes, 120e6 + early, 1);
  EXPECT_NEAR(dram.write_bytes, 120e6 + early, 1);
}

// 100 sectors, each stored in four parts with 15 KB of other stores between two parts: half of the
// three later parts reach L2 on their own. With 7.5 KB it is 16%, also of persistent blocks.
TEST(L1Reuse, PartsOfSectorsComeApartAmongOtherStores) {
  const Gpu gpu = holding_60_mb();
  Plan plan;
  plan.launch.grid[0] = 264;
  plan.blocks = {{264, {}}};
  plan.arrays = {{.array = 0, .compulsory = {}, .footprint = {}}};
  plan.arrays[0].split = {.sectors = 100, .parts = 4, .bytes_between = 15e3};
  const Occupancy two{2, 16, OccupancyLimiter::blocks};
  EXPECT_NEAR(testing::l2_traffic(plan, two, gpu).write_bytes, 100 * 1.5 * 32, 1e-9);
  plan.arrays[0].split->bytes_between = 7.5e3;
  EXPECT_NEAR(testing::l2_traffic(plan, two, gpu).write_bytes,
              100 * 3 * (1 - std::exp2(-0.25)) * 32, 1e-9);
  plan.scheduler = TileScheduler::persistent;
  EXPECT_NEAR(testing::l2_traffic(plan, two, gpu).write_bytes,
              100 * 3 * (1 - std::exp2(-0.25)) * 32, 1e-9);
}

// L2 keeps 60 MB. Launches back to back take sets of arrays, three L2s full and one more: four sets
// of a table as large as L2. Four times 15.9 MB are 63.6 MB, of which half is lost. Of 10 GB there
// are two sets.
TEST(L2Reuse, LaunchesInARowFindWhatLittleTheyTouch) {
  const Gpu gpu = holding_60_mb();
  Plan plan;
  EXPECT_EQ(lost_between_rounds(plan, {25e6, 0}, gpu), 1);
  plan.arrays = {{.array = 0, .compulsory = {}, .footprint = {}}};
  plan.arrays[0].random = RandomReads{.sectors = 1e5, .table_bytes = *gpu.memory.l2_bytes};
  EXPECT_NEAR(lost_between_rounds(plan, {12e6, 3.9e6}, gpu), 0.5, 1e-9);
  EXPECT_EQ(lost_between_rounds(plan, {15e6, 0}, gpu), 0);
  plan.arrays[0].random->table_bytes = 10e9;
  EXPECT_NEAR(lost_between_rounds(plan, {31.8e6, 0}, gpu), 0.5, 1e-9);
}

// Arrays that a launch reads and writes whole are not found again, unless 4096 sets of them are
// less than L2 keeps.
TEST(L2Reuse, LaunchesInARowFindNothingOfArraysTheyReadWhole) {
  const Gpu gpu = holding_60_mb();
  for (const double bytes : {30e3, 1e6, 30e6, 90e6, 1e9}) {
    Plan plan;
    plan.arrays = {{.array = 0, .compulsory = {}, .footprint = {bytes, bytes}}};
    EXPECT_EQ(lost_between_rounds(plan, {bytes, bytes}, gpu), 1) << bytes;
  }
  Plan tiny;
  tiny.arrays = {{.array = 0, .compulsory = {}, .footprint = {5e3, 5e3}}};
  EXPECT_EQ(lost_between_rounds(tiny, {5e3, 5e3}, gpu), 0);  // 41 MB
  // Reads that touch half of the memory around them span twice their bytes: four sets are 61.8 MB.
  const double span = *gpu.memory.l2_bytes;
  Plan half;
  half.arrays = {
      {.array = 0, .compulsory = {}, .footprint = {span / 2, 0}, .pattern = {.read_density = 0.5}}};
  EXPECT_NEAR(lost_between_rounds(half, {61.8e6 / 4, 0}, gpu), 0.25, 1e-9);
}

// A sector waits for its other part while 50 of 100 blocks move 120 of 240 MB, twice L2's size.
TEST(L2Reuse, SectorsStayOpenUntilTheBlockThatSharesThem) {
  Gpu gpu = holding_60_mb();
  gpu.sm_count = 25;
  Plan plan = copy_of_100_blocks({.open_write_bytes = 10e6, .open_for_blocks = 50});
  EXPECT_NEAR(written_back_early_bytes(plan, {1, 1, OccupancyLimiter::blocks}, gpu),
              10e6 * (1 - std::exp(-2.0)), 1);
  plan.arrays[1].pattern.open_for_blocks = 1;  // all 25 resident ones run meanwhile
  EXPECT_NEAR(written_back_early_bytes(plan, {1, 1, OccupancyLimiter::blocks}, gpu),
              10e6 * (1 - std::exp(-1.0)), 1);
}

// One byte counts: while it is open the whole output passes, 60 MB, which is what L2 keeps.
TEST(L2Reuse, OneOpenByteCounts) {
  Plan plan;
  plan.arrays = {{.array = 0,
                  .compulsory = {0, 60e6},
                  .footprint = {0, 0},
                  .pattern = {.open_write_bytes = 1}}};
  const Traffic dram =
      testing::dram_traffic(plan, {1, 1, OccupancyLimiter::blocks}, holding_60_mb());
  EXPECT_NEAR(dram.write_bytes, 1 - std::exp(-1.0), 1e-12);
}

TEST(L2Reuse, WhatTheChainLeftNeedNotCome) {
  Plan plan;
  plan.arrays = {{.array = 0, .compulsory = {}, .footprint = {100, 40}}};
  const std::vector<InterLaunchReuse> earlier = {{{60, 30}, 63.6e6}};  // half is lost
  const Traffic dram =
      testing::dram_traffic(plan, {1, 1, OccupancyLimiter::blocks}, holding_60_mb(), earlier);
  EXPECT_NEAR(dram.read_bytes, 100 - 30, 1e-9);
  EXPECT_NEAR(dram.write_bytes, 40 - 15, 1e-9);
}

TEST(L1Reuse, NothingMissesUntilTheCapacity) {
  EXPECT_EQ(miss_share(100, 100, law::kL1GradualEviction), 0);
  EXPECT_DOUBLE_EQ(miss_share(125, 100, law::kL1GradualEviction), 0.5);
  EXPECT_EQ(miss_share(150, 100, law::kL1GradualEviction), 1);
  EXPECT_EQ(miss_share(1, 0, law::kL1GradualEviction), 0);  // of a byte, the least there is
  EXPECT_EQ(miss_share(2, 0, law::kL1GradualEviction), 1);
}

// Four blocks, two on each of two SMs, ask L2 for 1000 B each.
struct TwoSms {
  Gpu gpu = holding_60_mb();
  Plan plan;
  Occupancy two{2, 2, OccupancyLimiter::blocks};
  TwoSms() {
    gpu.sm_count = 2;
    plan.launch.grid[0] = 4;
    plan.launch.shared_bytes = 976;  // and 1024 that the system keeps
    gpu.memory.l1_shared_bytes = 4000 + 400;
    Step step;
    step.issued.l2 = {1000, 10};
    plan.blocks = {{4, {{step}}}};
  }
};

TEST(L1Reuse, LaterPassesOfABlockFindItsDataUntilTheResidentBlocksFillL1) {
  TwoSms two;
  two.plan.reuse = {{.scope = Scope::block, .bytes = 2000, .distance_bytes = 200}};  // 400 of 400
  EXPECT_EQ(testing::l2_traffic(two.plan, two.two, two.gpu).read_bytes, 4000 - 2000);
  EXPECT_EQ(testing::l2_traffic(two.plan, two.two, two.gpu).write_bytes, 40);
  two.plan.reuse[0].distance_bytes = 250;  // 500 of 400: half misses
  EXPECT_DOUBLE_EQ(testing::l2_traffic(two.plan, two.two, two.gpu).read_bytes, 4000 - 1000);
  EXPECT_EQ(least_l2_traffic(two.plan, two.gpu).read_bytes, 4000 - 2000);
  two.plan.launch.grid[0] = 2;  // one block an SM: 250 of 2400
  EXPECT_DOUBLE_EQ(testing::l2_traffic(two.plan, two.two, two.gpu).read_bytes, 4000 - 2000);
  two.gpu.memory.l1_shared_bytes.reset();
  EXPECT_EQ(testing::l2_traffic(two.plan, two.two, two.gpu).read_bytes, 4000);
}

TEST(L1Reuse, WhatAllBlocksReadComesToEachSmOnce) {
  TwoSms two;
  two.plan.reuse = {
      {.scope = Scope::sm, .bytes = 1600, .distinct_bytes = 400, .distance_bytes = 400}};
  EXPECT_EQ(testing::l2_traffic(two.plan, two.two, two.gpu).read_bytes, 4000 - (1600 - 2 * 400));
  EXPECT_EQ(least_l2_traffic(two.plan, two.gpu).read_bytes, 4000 - (1600 - 2 * 400));
  two.plan.reuse[0].distance_bytes = 500;
  EXPECT_EQ(testing::l2_traffic(two.plan, two.two, two.gpu).read_bytes, 4000 - 800 / 2);
  two.plan.reuse[0].distinct_bytes = 1000;  // twice that is more than all of it
  EXPECT_EQ(testing::l2_traffic(two.plan, two.two, two.gpu).read_bytes, 4000);
}

ArrayUse uses(ArrayId array, Traffic footprint) {
  return {.array = array, .compulsory = footprint, .footprint = footprint};
}

// 100 B each: a to b, b to c, then a and c to d.
LaunchSequence three_launches() {
  Plan first, second, third;
  first.arrays = {uses(0, {100, 0}), uses(1, {0, 100})};
  second.arrays = {uses(1, {100, 0}), uses(2, {0, 100})};
  third.arrays = {uses(0, {100, 0}), uses(2, {100, 0}), uses(3, {0, 100})};
  return {{first}, {second}, {third}};
}

TEST(InterLaunchReuse, OnlyWhatAnEarlierLaunchUsed) {
  const LaunchSequence program = three_launches();
  EXPECT_TRUE(inter_launch_reuse(program, 0).empty());
  EXPECT_EQ(last_user(program, 1, 1), 0);
  EXPECT_FALSE(last_user(program, 1, 2));
  EXPECT_FALSE(last_user(program, 0, 0));
  ASSERT_EQ(inter_launch_reuse(program, 1).size(), 1U);
  EXPECT_EQ(inter_launch_reuse(program, 1)[0].bytes.read_bytes, 100);
}

TEST(InterLaunchReuse, AllComesRoundWhereLaunchesRepeatOnTheSameData) {
  const LaunchSequence program = three_launches();
  const auto first = inter_launch_reuse(program, 0, CacheState::repeated);
  ASSERT_EQ(first.size(), 2U);
  EXPECT_EQ(first[0].distance_bytes, 400) << "a comes round after a, b, c and d";
  EXPECT_TRUE(first[0].from_before);
  EXPECT_TRUE(inter_launch_reuse(program, 0, CacheState::steady).empty());
  // An array that an earlier launch of the sequence used has the distance to that launch.
  EXPECT_EQ(inter_launch_reuse(program, 1, CacheState::repeated)[0].distance_bytes,
            inter_launch_reuse(program, 1)[0].distance_bytes);
}

TEST(InterLaunchReuse, DistanceCountsEachArrayOnTheWayOnce) {
  const LaunchSequence program = three_launches();
  EXPECT_EQ(inter_launch_reuse(program, 1)[0].distance_bytes, 300) << "a, b and c";
  const auto third = inter_launch_reuse(program, 2);
  ASSERT_EQ(third.size(), 2U);
  EXPECT_EQ(third[0].distance_bytes, 400);
  EXPECT_EQ(third[1].distance_bytes, 400);
}

TEST(InterLaunchReuse, WarmTheActivationCountsAsUsedBeforeTheFirstLaunch) {
  LaunchSequence program = three_launches();
  EXPECT_TRUE(inter_launch_reuse(program, 0, CacheState::warm).empty())
      << "no array is an activation";
  program[0].plan.arrays[0].activation = true;
  program[2].plan.arrays[0].activation = true;  // the same array, by then used by the program
  EXPECT_TRUE(inter_launch_reuse(program, 0, CacheState::cold).empty());
  EXPECT_TRUE(inter_launch_reuse(program, 0, CacheState::steady).empty());
  const auto first = inter_launch_reuse(program, 0, CacheState::warm);
  ASSERT_EQ(first.size(), 1U);
  EXPECT_EQ(first[0].bytes.read_bytes, 100);
  EXPECT_EQ(first[0].bytes.write_bytes, 0);
  EXPECT_TRUE(first[0].from_before);
  EXPECT_FALSE(inter_launch_reuse(program, 1, CacheState::warm)[0].from_before);
  EXPECT_EQ(first[0].distance_bytes, 200) << "itself and b";
  EXPECT_EQ(inter_launch_reuse(program, 2, CacheState::warm)[0].distance_bytes,
            inter_launch_reuse(program, 2)[0].distance_bytes);
  // Now the third launch is the first to read the activation.
  program[0].plan.arrays[0] = uses(4, {100, 0});
  const auto third = inter_launch_reuse(program, 2, CacheState::warm);
  ASSERT_EQ(third.size(), 2U);
  EXPECT_EQ(third[0].distance_bytes, 500) << "a to e";
}

}  // namespace
}  // namespace roofcast
