#include "model/laws/peaks.hpp"

#include <gtest/gtest.h>

#include "model/laws/clock.hpp"
#include "tests/model/devices.hpp"

namespace roofcast {
namespace {

TEST(Peaks, FastestPipeForTheType) {
  const Gpu gpu = testing::hopper_like();
  EXPECT_DOUBLE_EQ(best_peak(gpu, DType::fp32)->flops_per_s, 132 * 256 * 2e9);
  EXPECT_FALSE(best_peak(gpu, DType::fp32)->tensor);
  EXPECT_DOUBLE_EQ(best_peak(gpu, DType::bf16)->flops_per_s, 132 * 4096 * 2e9);
  EXPECT_TRUE(best_peak(gpu, DType::bf16)->tensor);
  EXPECT_FALSE(best_peak(gpu, DType::fp4));
  EXPECT_TRUE(computes_in(gpu, DType::fp64));
  EXPECT_FALSE(computes_in(gpu, DType::fp4));
}

TEST(Peaks, OfTheWholeDeviceWhereNoRateOfAnSmIsKnown) {
  Gpu gpu = testing::hopper_like();
  gpu.peak_flops_per_s[DType::fp4] = 7e15;
  gpu.peak_flops_per_s[DType::bf16] = 7e15;  // the SM's rate is the better source
  EXPECT_EQ(best_peak(gpu, DType::fp4)->flops_per_s, 7e15);
  EXPECT_FALSE(best_peak(gpu, DType::fp4)->tensor);
  EXPECT_DOUBLE_EQ(best_peak(gpu, DType::bf16)->flops_per_s, 132 * 4096 * 2e9);
  gpu.kind = DeviceKind::tpu;
  EXPECT_TRUE(best_peak(gpu, DType::fp4)->tensor);
}

TEST(Peaks, NoKernelBeatsTheFasterAccumulation) {
  Gpu gpu = testing::hopper_like();
  EXPECT_DOUBLE_EQ(*fastest_tensor_flops_per_s(gpu, DType::fp16, 1e9), 132 * 4096e9);
  gpu.sm.tensor_fp16_accumulate_flop_per_clk[DType::fp16] = 8192;
  EXPECT_DOUBLE_EQ(*fastest_tensor_flops_per_s(gpu, DType::fp16, 1e9), 132 * 8192e9);
  EXPECT_DOUBLE_EQ(*device_rate(gpu.sm.tensor_flop_per_clk[DType::fp16], gpu, 1e9), 132 * 4096e9);
  EXPECT_FALSE(fastest_tensor_flops_per_s(gpu, DType::fp32, 1e9));
}

TEST(Peaks, L2OfTheDeviceOrThePortsOfItsSms) {
  Gpu gpu = testing::hopper_like();
  EXPECT_DOUBLE_EQ(*l2_peak_bytes_per_s(gpu, 1e9), 132 * 64e9);
  gpu.memory.l2_bytes_per_clk = 5120;
  EXPECT_DOUBLE_EQ(*l2_peak_bytes_per_s(gpu, 1e9), 5120e9);
  gpu.memory.l2_bytes_per_clk.reset();
  gpu.sm.l2_bytes_per_clk.reset();
  EXPECT_FALSE(l2_peak_bytes_per_s(gpu, 1e9));
}

TEST(Clock, LimitsTakeTheHighestForecastsTheSustained) {
  Gpu gpu = testing::hopper_like();
  gpu.clocks = {};
  EXPECT_FALSE(limit_clock_hz(gpu));
  EXPECT_FALSE(expected_clock_hz(gpu, false));
  EXPECT_FALSE(expected_clock_hz(gpu, true));
  gpu.clocks.tensor_boost_hz = 1e9;
  EXPECT_EQ(limit_clock_hz(gpu), 1e9);
  EXPECT_EQ(expected_clock_hz(gpu, false), 1e9);
  gpu.clocks.vector_boost_hz = 2e9;
  EXPECT_EQ(limit_clock_hz(gpu), 2e9);
  gpu.clocks.max_hz = 3e9;
  EXPECT_EQ(limit_clock_hz(gpu), 3e9);
  EXPECT_EQ(expected_clock_hz(gpu, false), 2e9);
  EXPECT_EQ(expected_clock_hz(gpu, true), 1e9);
  gpu.sustained.sm_clock_hz = 1.5e9;
  EXPECT_EQ(expected_clock_hz(gpu, false), 1.5e9);
  EXPECT_EQ(expected_clock_hz(gpu, true), 1e9);
  gpu.clocks.tensor_boost_hz = 1.8e9;
  EXPECT_EQ(expected_clock_hz(gpu, true), 1.5e9);  // no more than the measured clock
}

// The tensor cores' clock is the measured one, else the datasheet's; never above that of other
// launches.
TEST(Clock, TensorCoresHaveTheirOwn) {
  Gpu gpu = testing::hopper_like();
  EXPECT_EQ(expected_clock_hz(gpu, true), 1.8e9);
  gpu.sustained.tensor_clock_hz = 1.7e9;
  EXPECT_EQ(expected_clock_hz(gpu, true), 1.7e9);
  gpu.sustained.sm_clock_hz = 1.5e9;
  EXPECT_EQ(expected_clock_hz(gpu, true), 1.5e9);
}

TEST(Peaks, Fp64OfTheTensorCoresHasAClockOfItsOwn) {
  Gpu gpu = testing::hopper_like();
  EXPECT_EQ(tensor_peak_clock_hz(gpu, DType::fp64), 1.8e9);
  gpu.clocks.tensor_fp64_boost_hz = 2e9;
  EXPECT_EQ(tensor_peak_clock_hz(gpu, DType::fp64), 2e9);
  EXPECT_EQ(tensor_peak_clock_hz(gpu, DType::fp16), 1.8e9);
}

}  // namespace
}  // namespace roofcast
