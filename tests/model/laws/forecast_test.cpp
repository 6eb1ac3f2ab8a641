// What blocks of a launch wait for, by round, and which part of a launch its time goes to.
#include "model/laws/forecast.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/model/devices.hpp"

namespace roofcast {
namespace {

constexpr std::int64_t kSms = 132;
constexpr Occupancy kOneAnSm{1, 8, OccupancyLimiter::blocks};
constexpr double kClock_hz = 1;  // SMs take seconds then, and memory nothing beside them

Plan waiting_blocks(std::int64_t count) {
  Plan plan;
  plan.launch.grid[0] = count;
  plan.launch.block[0] = 256;
  Step step;
  step.waits.global = 1;
  plan.blocks = {{count, {{step}}}};
  return plan;
}

LaunchTime time_of(const Plan& plan, LaunchMemory memory, double clock_hz, const Gpu& gpu) {
  memory.misses = l1_misses(plan, kOneAnSm, gpu);
  return launch_time(plan, kOneAnSm, memory, {clock_hz}, gpu);
}

double cycles(const Plan& plan, const LaunchMemory& memory, const Gpu& gpu) {
  return time_of(plan, memory, kClock_hz, gpu).time_s;
}

// L2 gives all blocks the same 1000 B, which the first wave waits to come from DRAM, 390 cycles
// more than the 265 to L2.
TEST(LaunchTime, TheFirstOfTwoRoundsWaitsForDramHoweverFullTheSecondIs) {
  const Gpu gpu = testing::hopper_like();
  const LaunchMemory memory = {.l2 = {1000, 0}, .dram = {0, 0}};
  for (const std::int64_t blocks : {kSms + 1, kSms + 46, 2 * kSms}) {
    Plan plan = waiting_blocks(blocks);
    plan.reuse = {{.scope = Scope::sm, .bytes = 1000, .distance_bytes = 1e9}};
    EXPECT_NEAR(cycles(plan, memory, gpu), (265 + 390) + 265, 1e-6) << blocks;
  }
  Plan one = waiting_blocks(10);
  one.reuse = {{.scope = Scope::sm, .bytes = 1000, .distance_bytes = 1e9}};
  EXPECT_NEAR(cycles(one, memory, gpu), 265 + 390, 1e-6);
}

// A table of two sectors, which L1 soon has. In the first wave no L1 has it, so every block waits;
// of a thousand waves nearly none does.
TEST(LaunchTime, TheFirstWaveWaitsForRandomReads) {
  Gpu gpu = testing::hopper_like();
  gpu.memory.l1_shared_bytes = 228 * 1024;
  const auto of_waves = [&](std::int64_t waves) {
    Plan plan = waiting_blocks(kSms * waves);
    plan.blocks[0].phases[0].step.waits.global = 0;
    const auto sectors = static_cast<double>(8 * plan.launch.blocks());  // one a warp
    plan.arrays = {{.array = 0,
                    .compulsory = {},
                    .footprint = {},
                    .random = RandomReads{.sectors = sectors, .table_bytes = 64}}};
    return cycles(plan, {.l2 = {1000, 0}, .dram = {0, 0}}, gpu) / static_cast<double>(waves);
  };
  EXPECT_NEAR(of_waves(1), 655, 1e-6);
  EXPECT_LT(of_waves(1000), 1);
}

// Blocks work 100 cycles before their copies and 200 after them, while nothing is moved.
TEST(LaunchTime, EndsOfBlocksThatRunTogetherAreNotBeneathWhatIsMoved) {
  Gpu gpu = testing::hopper_like();
  gpu.sustained.l2_bandwidth_bytes_per_s = 1e6;
  Plan plan;
  plan.launch.grid[0] = 198;
  plan.launch.block[0] = 128;
  plan.ends_apart = true;
  Step before, loop, after;
  before.waits.arithmetic = 100 / *gpu.latency.fma_cycles;
  after.waits.arithmetic = 200 / *gpu.latency.fma_cycles;
  plan.blocks = {{198, {{before}, {loop, 10, 3}, {after}}}};
  const LaunchMemory memory = {.l2 = {3e9, 0}, .dram = {0, 0}};
  const Occupancy two{2, 8, OccupancyLimiter::blocks};
  const auto seconds = [&] {
    LaunchMemory one = memory;
    one.misses = l1_misses(plan, two, gpu);
    return launch_time(plan, two, one, {kClock_hz}, gpu).time_s;
  };
  EXPECT_NEAR(seconds(), 300 + 3000, 1e-6);
  plan.ends_apart = false;
  EXPECT_NEAR(seconds(), 3000, 0.1);  // the SM's work lies beneath
}

TEST(LaunchTime, OnlyLaunchesBackToBackFindTheirCodeInL2) {
  const Gpu gpu = testing::hopper_like();
  const LaunchSequence program = {{waiting_blocks(kSms)}};
  EXPECT_FALSE(launch_memory(program, 0, kOneAnSm, CacheState::cold, gpu).back_to_back);
  EXPECT_FALSE(launch_memory(program, 0, kOneAnSm, CacheState::warm, gpu).back_to_back);
  EXPECT_TRUE(launch_memory(program, 0, kOneAnSm, CacheState::steady, gpu).back_to_back);
}

// The largest of what SMs, L2 and DRAM take is told by its parts, what the others add is overlap.
// L2 has nothing to move before the first load, and a block waits 265 s for that.
TEST(LaunchTime, PartsTellTheLargestAndAddUp) {
  Gpu gpu = testing::hopper_like();
  gpu.sustained.memory_overlap_exponent = 2;
  gpu.sustained.l2_bandwidth_bytes_per_s = 10;
  gpu.sustained.completion_latency_s = 7;
  gpu.sustained.first_access_s = 5;
  gpu.memory.dram_bandwidth_bytes_per_s = 1e9;
  Plan plan = waiting_blocks(kSms);
  plan.arrays = {{.array = 0, .compulsory = {1, 1}, .footprint = {}}};
  // SMs 265 s, L2 265 s later 88 ⅓ s: 441 ⅔ s together.
  const LaunchTime time =
      time_of(plan, {.l2 = {2650 / 3.0, 0}, .dram = {}, .new_share = 1}, kClock_hz, gpu);
  EXPECT_NEAR(time.parts[Part::l2], 265 / 3.0, 1e-9);
  EXPECT_NEAR(time.parts[Part::latency], 265, 1e-9);
  EXPECT_NEAR(time.parts[Part::overlap], 265 / 3.0, 1e-9);
  EXPECT_EQ(time.parts[Part::completion], 7);
  EXPECT_EQ(time.parts[Part::first_access], 5);
  EXPECT_NEAR(time.time_s, 265 * 5 / 3.0 + 7 + 5, 1e-9);
  EXPECT_NEAR(time.terms_s[static_cast<std::size_t>(Resource::l2)], 265 / 3.0, 1e-9);
}

// Blocks of one warp work 265 s and move data for 100 s besides. Alone on an SM each does both in turn;
// of four a share of 4^-1.25 of the memory's time is waited for.
TEST(LaunchTime, TheFewerPartsTheLessMemoryOverlaps) {
  Gpu gpu = testing::hopper_like();
  gpu.sustained.memory_overlap_exponent = 20;
  gpu.sustained.l2_bandwidth_bytes_per_s = 10;
  Plan plan = waiting_blocks(kSms);
  plan.launch.block[0] = 32;
  const LaunchMemory memory = {.l2 = {1000, 0}, .dram = {}};
  EXPECT_NEAR(cycles(plan, memory, gpu), 265 + 100, 0.1);
  plan.blocks[0].phases[0].step.waits.global = 3;
  EXPECT_NEAR(cycles(plan, memory, gpu), 3 * 265 + 100, 1e-6);
  plan.launch.block[0] = 4 * 32;
  EXPECT_NEAR(cycles(plan, memory, gpu), 3 * 265 + 100 / std::pow(4, 1.25), 1e-6);
}

// 4.8 TB a second in order, half as much scattered; DRAM accesses of one sector.
class WritesInPieces : public ::testing::Test {
 protected:
  WritesInPieces() : gpu(testing::hopper_like()) {
    gpu.sustained.dram_scattered_bytes_per_s = 2.4e12;
    gpu.sustained.l2_bandwidth_bytes_per_s = 9.6e12;
    gpu.sustained.l2_partial_writes_per_s = 1e10;
  }
  double term_s(Resource resource, const AccessPattern& pattern, double early_bytes) const {
    Plan plan = waiting_blocks(1);
    plan.arrays = {{.array = 0, .compulsory = {}, .footprint = {0, 4.8e12}, .pattern = pattern}};
    const LaunchMemory memory = {
        .l2 = {}, .dram = {0, 4.8e12 + early_bytes}, .early_bytes = early_bytes};
    return time_of(plan, memory, 1e9, gpu).terms_s[static_cast<std::size_t>(resource)];
  }
  Gpu gpu;
};

// Each run of 64 B begins with an access of 32 B apart. The 132 blocks that run together join four
// runs to one of 256 B where the next one is 33 blocks away.
TEST_F(WritesInPieces, EachRunBeginsApart) {
  EXPECT_NEAR(term_s(Resource::dram, {}, 0), 1, 1e-12);
  EXPECT_NEAR(term_s(Resource::dram, {.write_run_bytes = 64, .blocks_to_next_run = 264}, 0), 1.5,
              1e-12);
  EXPECT_NEAR(term_s(Resource::dram, {.write_run_bytes = 64, .blocks_to_next_run = 33}, 0), 1.125,
              1e-12);
}

// A sector that two runs share takes an access of its own in each: 2.4 TB a second, with two such ends
// a run 4.8 TB more. A run that begins with one has no other beginning.
TEST_F(WritesInPieces, RunsThatShareSectorsWriteThemTwice) {
  const double runs = 4.8e12 / 64;
  const auto with_ends = [&](double ends, double blocks) {
    return term_s(Resource::dram,
                  {.write_run_bytes = 64, .blocks_to_next_run = blocks, .shared_run_ends = ends},
                  0);
  };
  EXPECT_NEAR(with_ends(2 * runs, 264), 1 + 2, 1e-12);
  EXPECT_NEAR(with_ends(runs, 264), 1 + 0.25 + 1, 1e-12);
  EXPECT_NEAR(with_ends(2 * runs, 33), 1 + 0.5, 1e-12);  // four runs are joined
}

// Driven out early, 1.2 TB are read and written apart, 0.25 s more each, and merged sector by sector.
TEST_F(WritesInPieces, SectorsDrivenOutEarlyAreReadMergedAndWritten) {
  EXPECT_NEAR(term_s(Resource::dram, {}, 1.2e12), 1.25 + 0.5, 1e-12);
  EXPECT_NEAR(term_s(Resource::l2, {}, 1.2e12), 3.75, 1e-12);
}

// L2 merges 10¹⁰ lines a second that are written in part.
TEST_F(WritesInPieces, LinesWrittenInPartAreMerged) {
  EXPECT_NEAR(term_s(Resource::l2, {.partial_writes = 2e10}, 0), 2, 1e-12);
}

// Two blocks on 132 SMs hold 2 of 132 places; the rest of the time is the tail's.
TEST(LaunchTime, EmptyPlacesAreTheTail) {
  const LaunchTime time =
      time_of(waiting_blocks(2), {.l2 = {1000, 0}, .dram = {}}, kClock_hz, testing::hopper_like());
  EXPECT_NEAR(time.parts[Part::latency], 265 * 2 / 132.0, 1e-9);
  EXPECT_NEAR(time.parts[Part::tail], 265 * 130 / 132.0, 1e-9);
}

}  // namespace
}  // namespace roofcast
