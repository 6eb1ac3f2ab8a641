// The time of blocks on the places of the SMs.
#include "model/laws/sm_time.hpp"

#include <gtest/gtest.h>

#include "model/constants/laws.hpp"
#include "tests/model/devices.hpp"

namespace roofcast {
namespace {

constexpr std::int64_t kSms = 132;
constexpr Occupancy kOneAnSm{1, 8, OccupancyLimiter::blocks};

// Blocks of 1000 dependent multiply-adds of 4 cycles.
Plan blocks(std::int64_t count, TileScheduler scheduler = TileScheduler::hardware) {
  Plan plan;
  plan.launch.grid[0] = is_persistent(scheduler) ? std::min(count, kSms) : count;
  plan.launch.block[0] = 256;
  plan.scheduler = scheduler;
  Step step;
  step.waits.arithmetic = 1000;
  plan.blocks = {{count, {{step}}}};
  return plan;
}

double cycles(const Plan& plan) {
  return sm_time(plan, kOneAnSm, {}, testing::hopper_like()).cycles;
}

TEST(SmTime, ARoundMoreTakesARoundMore) {
  const double one = cycles(blocks(kSms));
  EXPECT_GE(one, 4000);
  EXPECT_NEAR(cycles(blocks(2 * kSms)), 2 * one, 0.01 * one);
  EXPECT_NEAR(cycles(blocks(kSms + 1)), 2 * one, 0.01 * one);
}

TEST(SmTime, BlocksThatStayStartOnce) {
  EXPECT_LE(cycles(blocks(8 * kSms, TileScheduler::persistent)), cycles(blocks(8 * kSms)));
  EXPECT_NEAR(cycles(blocks(2, TileScheduler::persistent)), cycles(blocks(1)), 1);
}

// Ping-pong has two tiles in flight, which overlap: half of the latency shows.
TEST(SmTime, TilesInTurnsHideTheirEnds) {
  const double one = cycles(blocks(16 * kSms, TileScheduler::persistent));
  const double two = cycles(blocks(16 * kSms, TileScheduler::ping_pong));
  EXPECT_NEAR(two / one, 0.5, 0.1);
}

// Code is fetched ahead of its use: it costs nothing until the instruction caches are full. Of two
// equal blocks on an SM one fetches; blocks of four kinds, two bits, fetch five sixths.
TEST(SmTime, LongCodeSetsThePace) {
  constexpr Occupancy kTwoAnSm{2, 16, OccupancyLimiter::blocks};
  constexpr std::int64_t kBlocksOfAnSm = 64;
  const auto time_of = [&](double code_bytes, std::size_t kinds) {
    Plan plan = blocks(kBlocksOfAnSm * kSms);
    BlockClass& first = plan.blocks.front();
    first.count /= static_cast<std::int64_t>(kinds);
    first.phases.front().step.code_bytes = code_bytes;
    plan.blocks.resize(kinds, BlockClass(first));
    return sm_time(plan, kTwoAnSm, {}, testing::hopper_like());
  };
  EXPECT_EQ(time_of(1000, 1).cycles, time_of(0, 1).cycles);
  constexpr double kCodeBytes = 100e3;
  const double all = kBlocksOfAnSm * kCodeBytes / law::kCodeBytesPerClk;
  EXPECT_NEAR(time_of(kCodeBytes, 1).cycles, all / 2, 0.01 * all);
  EXPECT_NEAR(time_of(kCodeBytes, 4).cycles, all * 5 / 6, 0.01 * all);
  EXPECT_NEAR(time_of(kCodeBytes, 4).busy[Resource::instruction_fetch], all * 5 / 6, 0.01 * all);
}

// Three warpgroups of a tile share the tensor cores in its main loop alone. Outside it none
// multiplies, so a tile takes its loop and its epilogue, each on its own.
TEST(SmTime, BlocksInStepWaitForEachPhase) {
  const Gpu gpu = testing::hopper_like();
  const auto tile_cycles = [&](double steps, double end_waits) {
    Step step, end;
    step.issued.tensor_flops[DType::bf16] = 1e7;
    step.waits = {.tile_loads = 1, .arithmetic = 500, .barriers = 1};
    end.waits.arithmetic = end_waits;
    const auto of = [&](std::int64_t tiles) {
      Plan plan;
      plan.launch.grid[0] = kSms;
      plan.launch.block[0] = 512;
      plan.scheduler = TileScheduler::persistent;
      Phase loop{step, steps, 2, 3};
      plan.blocks = {{tiles * kSms, {loop, {end, 1, 0, 3}}}};
      return sm_time(plan, kOneAnSm, {}, gpu).cycles;
    };
    return (of(40) - of(20)) / 20;
  };
  const double loop = tile_cycles(4, 0), fma = *gpu.latency.fma_cycles;
  EXPECT_NEAR(tile_cycles(4, 1000), loop + 1000 * fma, 1);
}

TEST(SmTime, EmptyPlacesAreIdle) {
  const SmTime time = sm_time(blocks(kSms + 66), kOneAnSm, {}, testing::hopper_like());
  EXPECT_NEAR(time.idle, time.cycles / 4, 0.02 * time.cycles);
}

}  // namespace
}  // namespace roofcast
