// Convolutions, by counts worked out by hand.
#include "model/libraries/convolution.hpp"

#include <gtest/gtest.h>

#include "model/roofcast.hpp"
#include "tests/model/devices.hpp"

namespace roofcast {
namespace {

using testing::hopper_like;

// A layer of ResNet-50: 56 × 56 pixels of 64 channels, 3 × 3 filters.
TEST(Convolution, IsAProductThatReadsItsImageOnce) {
  Problem problem{.dtype = DType::bf16, .values = {32, 56, 56, 64, 64, 3, 1, 128, 64, 1}};
  const KernelModel& kernel = convolution::kFamily.variants.front();
  const double pixels = 32.0 * 56 * 56;
  const Work work = convolution::kFamily.work(problem);
  EXPECT_DOUBLE_EQ(work.flops(), 2 * pixels * 64 * 64 * 9);
  EXPECT_DOUBLE_EQ(work.compulsory.read_bytes, 2 * (pixels * 64 + 64.0 * 64 * 9));
  EXPECT_DOUBLE_EQ(work.compulsory.write_bytes, 2 * pixels * 64);
  const auto program = kernel.plan(problem, hopper_like());
  EXPECT_NEAR(program.front().plan.arrays.front().footprint.read_bytes, 2 * pixels * 64, 1);
  // Every second pixel in both directions: a quarter of the result.
  problem[convolution::kStride] = 2;
  EXPECT_DOUBLE_EQ(convolution::kFamily.work(problem).flops(), 2 * pixels / 4 * 64 * 64 * 9);
}

// Three channels become eight, seven filters eight: both operands are cleared and copied before the
// product, its result after it. Half a k-slab, 32 channels, holds the eight of a tap: 9 taps take
// ceil(9 · 32 / 64) slabs. Rows of a matrix, 1 × 1 filters without a stride, are not extended.
TEST(Convolution, ExtendsPixelsToWholeVectors) {
  Problem problem{.dtype = DType::bf16, .values = {32, 56, 56, 3, 7, 3, 1, 128, 64, 1}};
  const KernelModel& kernel = convolution::kFamily.variants.front();
  const double pixels = 32.0 * 56 * 56;
  const LaunchSequence launches = kernel.plan(problem, hopper_like());
  ASSERT_EQ(launches.size(), 6U);
  EXPECT_EQ(launches[1].plan.arrays[0].compulsory.read_bytes, 2 * pixels * 3);
  EXPECT_EQ(launches[1].plan.arrays[1].footprint.write_bytes, 2 * pixels * 8);
  const Plan& product = launches[4].plan;
  EXPECT_EQ(product.blocks.front().phases.front().repeats, 5);
  EXPECT_EQ(product.useful.flops(), 2 * pixels * 7 * 9 * 3);
  EXPECT_EQ(launches[5].plan.arrays.back().compulsory.write_bytes, 2 * pixels * 7);
  problem[convolution::kSide] = 1;
  problem[convolution::kTileN] = 128;
  EXPECT_EQ(kernel.plan(problem, hopper_like()).size(), 1U);
}

// 64 channels and 64 filters are the least that wgmma takes, filters counted to 128. Its slabs of 64
// channels hold one tap's: 96 channels and nine taps take 18.
TEST(Convolution, MultipliesByWgmmaWhereATapsFiltersAreALargeMatrix) {
  const auto product = [](std::int64_t channels, std::int64_t filters, DType type) {
    const Problem problem{.dtype = type,
                          .values = {32, 56, 56, channels, filters, 3, 1, 128, 128, 1}};
    return convolution::kFamily.variants.front().plan(problem, hopper_like()).front().plan;
  };
  const auto instruction = [&](std::int64_t channels, std::int64_t filters, DType type) {
    return product(channels, filters, type).needs.front();
  };
  EXPECT_EQ(instruction(64, 64, DType::bf16), Instruction::wgmma);
  EXPECT_EQ(instruction(64, 56, DType::bf16), Instruction::mma_sync);
  EXPECT_EQ(instruction(32, 128, DType::fp16), Instruction::wgmma);
  EXPECT_EQ(instruction(24, 1024, DType::fp16), Instruction::mma_sync);
  EXPECT_EQ(instruction(8, 8, DType::tf32), Instruction::wgmma);
  const Plan plan = product(96, 128, DType::bf16);
  EXPECT_EQ(plan.blocks.front().phases.front().repeats, 18);
}

// In fp32 both operands and the result are transposed to images by channel and back; FFT may need
// fewer FLOPs than the sums have, so they are in no limit.
TEST(Convolution, TransposesImagesOfFp32) {
  const Problem problem{.dtype = DType::fp32, .values = {32, 56, 56, 64, 64, 3, 1, 128, 64, 1}};
  const LaunchSequence launches =
      convolution::kFamily.variants.front().plan(problem, hopper_like());
  ASSERT_EQ(launches.size(), 4U);
  EXPECT_EQ(launches[2].plan.useful.flops(), 0);
}

}  // namespace
}  // namespace roofcast
