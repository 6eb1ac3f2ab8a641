// The small laws, each against numbers worked out by hand.
#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "model/counting/coalescing.hpp"
#include "model/counting/io_complexity.hpp"
#include "model/laws/bounds.hpp"
#include "model/laws/clock.hpp"
#include "model/laws/l2_reuse.hpp"
#include "model/laws/overlap.hpp"
#include "model/laws/peaks.hpp"
#include "model/laws/sm_time.hpp"
#include "model/laws/waves.hpp"
#include "tests/model/devices.hpp"

namespace roofcast {
namespace {

// Horace He's example (hardware_facts): 108 SMs, 256×128 tiles: 1792² fits one wave, 1793² not.
TEST(Waves, TileQuantization) {
  const Waves one = waves(7 * 14, 108);
  EXPECT_EQ(one.full, 0);
  EXPECT_DOUBLE_EQ(one.tail_utilization, 98.0 / 108);
  const Waves two = waves(8 * 15, 108);
  EXPECT_EQ(two.full, 1);
  EXPECT_DOUBLE_EQ(two.tail_utilization, 12.0 / 108);
  EXPECT_DOUBLE_EQ(two.efficiency, 120.0 / 108 / 2);
  EXPECT_DOUBLE_EQ(waves(216, 108).tail_utilization, 1);
}

TEST(Coalescing, SectorsAndLines) {
  EXPECT_EQ(distinct_units({.stride_bytes = 4, .access_bytes = 4}, 32), 4);
  EXPECT_EQ(distinct_units({.stride_bytes = 4, .access_bytes = 4, .offset_bytes = 4}, 32), 5);
  EXPECT_EQ(distinct_units({.stride_bytes = 16, .access_bytes = 16}, 128), 4);
  EXPECT_EQ(distinct_units({.stride_bytes = 64, .access_bytes = 4}, 32), 32);
  EXPECT_EQ(distinct_units({.stride_bytes = 0, .access_bytes = 4}, 32), 1);
  EXPECT_EQ(distinct_units({.stride_bytes = 4096, .access_bytes = 4}, 128), 32);
}

TEST(Coalescing, BankWavefronts) {
  EXPECT_EQ(bank_wavefronts({.stride_bytes = 4, .access_bytes = 4}), 1);
  EXPECT_EQ(bank_wavefronts({.stride_bytes = 0, .access_bytes = 4}), 1);
  EXPECT_EQ(bank_wavefronts({.stride_bytes = 4096, .access_bytes = 4}), 32);
  EXPECT_EQ(bank_wavefronts({.stride_bytes = 4000, .access_bytes = 4}), 8);
  EXPECT_EQ(bank_wavefronts({.stride_bytes = 4108, .access_bytes = 4}), 1);
  EXPECT_EQ(bank_wavefronts({.stride_bytes = 16, .access_bytes = 16}), 4);
}

TEST(IoComplexity, MatrixProduct) {
  // S = 16384 words: 2·8192³/128 words of 4 B.
  const IoComplexity io = matrix_product_io(8192, 8192, 8192, 4, 1, 65536);
  EXPECT_DOUBLE_EQ(io.lower_bound_bytes, 2.0 * 8192 * 8192 * 8192 / 128 * 4);
  EXPECT_DOUBLE_EQ(matrix_product_io(8, 8, 8, 4, 768, 1e9).lower_bound_bytes, 768);
}

TEST(L2Reuse, NothingMissesUntilTheCapacity) {
  const Gpu gpu = testing::hopper_like();
  EXPECT_EQ(l2_miss_share(60e6, gpu), 0);
  EXPECT_DOUBLE_EQ(l2_miss_share(75e6, gpu), 0.5);
  EXPECT_EQ(l2_miss_share(90e6, gpu), 1);
}

// L2 holds the last 30 MB of traffic, of which half are writes.
TEST(L2Reuse, DirtyLinesStayBehind) {
  Gpu gpu = testing::hopper_like();
  gpu.sustained.l2_dirty_bytes = 30e6;
  EXPECT_EQ(left_dirty_bytes({100e6, 100e6}, gpu), 15e6);
  EXPECT_EQ(left_dirty_bytes({10e6, 10e6}, gpu), 10e6);
  EXPECT_EQ(left_dirty_bytes({100e6, 0}, gpu), 0);
}

TEST(L2Reuse, PanelsComeAgainWhenAWaveCannotHoldTheGrid) {
  const Gpu gpu = testing::hopper_like();
  Plan plan;
  plan.total.compulsory = {0, 0};
  // 100×100 tiles, 100 at once: a wave is one row of tiles and sweeps all of B (1 GB), far more
  // than L2 holds: B comes again 99 times.
  plan.raster = TileRaster{
      .tile_rows = 100, .tile_columns = 100, .row_panel_bytes = 1e7, .column_panel_bytes = 1e7};
  EXPECT_NEAR(dram_traffic(plan, 100, March::in_step, gpu).read_bytes, 99e9, 1e6);
  // All at once: nothing comes again.
  EXPECT_EQ(dram_traffic(plan, 10000, March::in_step, gpu).read_bytes, 0);
  // Ten rows at once in step sweep B ten times; apart, each row sweeps it alone.
  EXPECT_NEAR(dram_traffic(plan, 1000, March::in_step, gpu).read_bytes, 9e9, 1e6);
  EXPECT_NEAR(dram_traffic(plan, 1000, March::apart, gpu).read_bytes, 99e9, 1e6);
}

TEST(Peaks, FastestPipeForTheType) {
  const Gpu gpu = testing::hopper_like();
  EXPECT_DOUBLE_EQ(best_peak(gpu, DType::fp32)->flops_per_s, 132 * 256 * 2e9);
  EXPECT_FALSE(best_peak(gpu, DType::fp32)->tensor);
  EXPECT_DOUBLE_EQ(best_peak(gpu, DType::bf16)->flops_per_s, 132 * 4096 * 2e9);
  EXPECT_TRUE(best_peak(gpu, DType::bf16)->tensor);
  EXPECT_FALSE(best_peak(gpu, DType::fp4));
}

TEST(Bounds, LargestResourceBinds) {
  const Gpu gpu = testing::hopper_like();
  Plan plan;
  plan.total.vector_flops = 132 * 256 * 2e9;  // 1 s
  plan.total.compulsory = {2.4e12, 60e6};     // 0.5 s: what is written can stay in L2
  const Limit found = limit({plan}, gpu);
  EXPECT_DOUBLE_EQ(found.time_s, 1);
  EXPECT_EQ(found.terms.binding().resource, Resource::vector);
  EXPECT_THROW(limit(plan.total, DType::fp4, gpu), InputError);
}

// 128 B a clock and SM at 2 GHz: 132 SMs take 1 s for 33.792 TB through L1 or shared memory.
TEST(Bounds, L1SharedMemoryAndL2) {
  Gpu gpu = testing::hopper_like();
  gpu.sm.l1_bytes_per_clk = 128;
  Plan shared;
  shared.total.shared_bytes = 33.792e12;
  EXPECT_DOUBLE_EQ(limit({shared}, gpu).time_s, 1);
  EXPECT_EQ(limit({shared}, gpu).terms.binding().resource, Resource::shared);
  Plan l1;
  l1.total.l1 = {30e12, 3.792e12};
  EXPECT_DOUBLE_EQ(limit({l1}, gpu).time_s, 1);
  EXPECT_EQ(limit({l1}, gpu).terms.binding().resource, Resource::l1);

  Plan l2;
  l2.total.l2.read_bytes = 10.24e12;
  EXPECT_DOUBLE_EQ(limit({l2}, gpu).time_s, 10.24 / 16.896);  // the ports of 132 SMs
  gpu.memory.l2_bytes_per_clk = 5120;
  EXPECT_DOUBLE_EQ(limit({l2}, gpu).time_s, 1);
}

TEST(Peaks, Fp64OfTheTensorCoresHasAClockOfItsOwn) {
  Gpu gpu = testing::hopper_like();
  EXPECT_EQ(tensor_peak_clock_hz(gpu, DType::fp64), 1.8e9);
  gpu.clocks.tensor_fp64_boost_hz = 2e9;
  EXPECT_EQ(tensor_peak_clock_hz(gpu, DType::fp64), 2e9);
  EXPECT_EQ(tensor_peak_clock_hz(gpu, DType::fp16), 1.8e9);
}

TEST(Overlap, LiesBetweenMaximumAndSum) {
  EXPECT_DOUBLE_EQ(Overlap(2)(std::array{3.0, 4.0}), 5);
  EXPECT_DOUBLE_EQ(Overlap(2)(std::array{0.0, 7.0}), 7);
  EXPECT_EQ(Overlap(2)(std::array{0.0, 0.0}), 0);
}

TEST(SmTime, ResidentBlocksHideLatencyUntilAPipeIsFull) {
  Gpu gpu = testing::hopper_like();
  gpu.sustained.overlap_exponent = 2;
  Plan plan;
  plan.block.steps = 10;
  plan.block.step.vector_flops = 256 * 100;  // 100 cycles of the pipe
  plan.block.step.global_round_trips = 1;    // 265 cycles exposed
  plan.launch.grid[0] = 132;
  const Occupancy alone{1, 8, OccupancyLimiter::warps};
  EXPECT_NEAR(sm_time(plan, alone, 0, gpu).cycles, 10 * (100 + 265), 1e-9);
  EXPECT_EQ(sm_time(plan, alone, 0, gpu).bound, Resource::latency);
  plan.launch.grid[0] = 132 * 5;
  const Occupancy five{5, 40, OccupancyLimiter::warps};
  EXPECT_NEAR(sm_time(plan, five, 0, gpu).cycles, 10 * (100 + std::hypot(400, 265)), 1e-9);
  EXPECT_EQ(sm_time(plan, five, 0, gpu).bound, Resource::vector);
  // What the pipes did not fill is latency: of 100 + ‖400, 265‖ cycles, 500.
  EXPECT_NEAR(sm_time(plan, five, 0, gpu).busy_cycles[static_cast<std::size_t>(Resource::latency)],
              10 * (std::hypot(400, 265) - 400), 1e-9);
}

TEST(SmTime, OneWarpCannotIssueEveryCycle) {
  Gpu gpu = testing::hopper_like();
  gpu.sustained.warp_issue_cycles = 2;
  Plan plan;
  plan.block.step.instructions = 400;  // one warp: 800 cycles in a row, 100 of the issue slots
  plan.launch.block[0] = 32;
  const Occupancy alone{1, 1, OccupancyLimiter::warps};
  EXPECT_NEAR(sm_time(plan, alone, 0, gpu).cycles, 800, 1);
}

}  // namespace
}  // namespace roofcast
