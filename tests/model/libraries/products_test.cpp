// Products with epilogues, with int4 weights, and convolutions, by counts worked out by hand.
#include "model/libraries/products.hpp"

#include <gtest/gtest.h>

#include "model/libraries/gemm.hpp"
#include "model/roofcast.hpp"
#include "tests/model/devices.hpp"

namespace roofcast {
namespace {

using testing::hopper_like;

// Beyond 1024 × 2048 results: a bias of 2 B a column, what the activation's gradient needs, and C's
// size for a residual or a gradient.
TEST(Epilogues, MoveWhatCublasltSaysAndComputeIt) {
  const auto work = [](gemm::Epilogue epilogue) {
    Problem problem{.dtype = DType::bf16, .values = {1024, 2048, 512}};
    problem[gemm::kBatch] = 1;
    problem[gemm::kEpilogue] = epilogue;
    return gemm::library_work(problem);
  };
  const double c = 1024.0 * 2048;
  const Traffic plain = work(gemm::kPlain).compulsory;
  const auto more = [&](gemm::Epilogue epilogue, double read, double written, double flops) {
    const Work found = work(epilogue);
    EXPECT_DOUBLE_EQ(found.compulsory.read_bytes - plain.read_bytes, read);
    EXPECT_DOUBLE_EQ(found.compulsory.write_bytes - plain.write_bytes, written);
    EXPECT_DOUBLE_EQ(found.vector_flops + found.special_flops, flops * c);
  };
  more(gemm::kBias, 4096, 0, 1);
  more(gemm::kGelu, 4096, 0, 9);
  more(gemm::kReluAux, 4096, c / 8, 2);
  more(gemm::kGeluAux, 4096, 2 * c, 9);
  more(gemm::kDGelu, 2 * c, 0, 18);
  more(gemm::kResidual, 2 * c, 0, 1);
}

// With split-K the launch that adds the parts runs the epilogue.
TEST(Epilogues, AreOfTheLaunchThatStoresC) {
  Problem problem{.dtype = DType::bf16, .values = {128, 128, 8192, 128, 128, 4}};
  problem[gemm::kBatch] = 1;
  problem[gemm::kEpilogue] = gemm::kGeluAux;
  const auto program = gemm::plan_library(problem, hopper_like());
  ASSERT_EQ(program.size(), 2U);
  EXPECT_EQ(program.front().plan.useful.special_flops, 0);
  EXPECT_DOUBLE_EQ(program.back().plan.useful.special_flops, 2.0 * 128 * 128);
  EXPECT_DOUBLE_EQ(total_work(program.back().plan).special_flops, 2.0 * 128 * 128);
}

// A product with its activation is faster than two launches.
TEST(Epilogues, SaveALaunch) {
  Problem product{.dtype = DType::bf16, .values = {8192, 4096, 1024}};
  product[gemm::kBatch] = 1;
  const auto time_s = [](const char* kernel, const Problem& problem) {
    return predict(find_kernel(kernel), problem, hopper_like()).time->expected_s;
  };
  const double plain_s = time_s("gemm.library", product);
  product[gemm::kEpilogue] = gemm::kGelu;
  const double fused_s = time_s("gemm.library", product);
  EXPECT_GT(fused_s, plain_s);
  EXPECT_LT(fused_s,
            plain_s + time_s("layer.gelu", {.dtype = DType::bf16, .values = {8192, 4096}}));
}

// 4096 × 4096 weights: half a byte and a scale of 2 B for 128 of them.
TEST(Int4Products, ReadAQuarterOfTheWeights) {
  Problem problem{.dtype = DType::bf16, .values = {8, 4096, 4096, 64, 64, 1, 0, 1}};
  const double weights = 4096.0 * 4096 * (0.5 + 2.0 / 128);
  const auto program = products::kInt4Family.variants.front().plan(problem, hopper_like());
  EXPECT_DOUBLE_EQ(program.front().plan.arrays[1].footprint.read_bytes, weights);
  const Work work = products::kInt4Family.work(problem);
  EXPECT_DOUBLE_EQ(work.compulsory.read_bytes, weights + 8.0 * 4096 * 2);
  EXPECT_DOUBLE_EQ(work.flops(), 2.0 * 8 * 4096 * 4096);
}

TEST(Int4Products, AreFasterWhereWeightsSetTheTimeAlone) {
  const auto time_s = [](const char* kernel, std::int64_t m) {
    Problem problem{.dtype = DType::bf16, .values = {m, 8192, 8192}};
    problem[7] = 1;  // batch
    return predict(find_kernel(kernel), problem, hopper_like()).time->expected_s;
  };
  EXPECT_LT(time_s("gemm_int4.library", 8), 0.5 * time_s("gemm.library", 8));
  EXPECT_GE(time_s("gemm_int4.library", 8192), time_s("gemm.library", 8192));
}

// A layer of ResNet-50: 56 × 56 pixels of 64 channels, 3 × 3 filters.
TEST(Convolution, IsAProductThatReadsItsImageOnce) {
  Problem problem{.dtype = DType::bf16, .values = {32, 56, 56, 64, 64, 3, 1, 128, 64, 1}};
  const KernelModel& kernel = products::kConvolutionFamily.variants.front();
  const double pixels = 32.0 * 56 * 56;
  const Work work = products::kConvolutionFamily.work(problem);
  EXPECT_DOUBLE_EQ(work.flops(), 2 * pixels * 64 * 64 * 9);
  EXPECT_DOUBLE_EQ(work.compulsory.read_bytes, 2 * (pixels * 64 + 64.0 * 64 * 9));
  EXPECT_DOUBLE_EQ(work.compulsory.write_bytes, 2 * pixels * 64);
  const auto program = kernel.plan(problem, hopper_like());
  EXPECT_NEAR(program.front().plan.arrays.front().footprint.read_bytes, 2 * pixels * 64, 1);
  // Every second pixel in both directions: a quarter of the result.
  problem[products::kStride] = 2;
  EXPECT_DOUBLE_EQ(products::kConvolutionFamily.work(problem).flops(),
                   2 * pixels / 4 * 64 * 64 * 9);
}

// Three channels become eight, seven filters eight: both operands are cleared and copied before the
// product, its result after it. Half a k-slab, 32 channels, holds the eight of a tap: 9 taps take
// ceil(9 · 32 / 64) slabs. Rows of a matrix, 1 × 1 filters without a stride, are not extended.
TEST(Convolution, ExtendsPixelsToWholeVectors) {
  Problem problem{.dtype = DType::bf16, .values = {32, 56, 56, 3, 7, 3, 1, 128, 64, 1}};
  const KernelModel& kernel = products::kConvolutionFamily.variants.front();
  const double pixels = 32.0 * 56 * 56;
  const LaunchSequence launches = kernel.plan(problem, hopper_like());
  ASSERT_EQ(launches.size(), 6U);
  EXPECT_EQ(launches[1].plan.arrays[0].compulsory.read_bytes, 2 * pixels * 3);
  EXPECT_EQ(launches[1].plan.arrays[1].footprint.write_bytes, 2 * pixels * 8);
  const Plan& product = launches[4].plan;
  EXPECT_EQ(product.blocks.front().phases.front().repeats, 5);
  EXPECT_EQ(product.useful.flops(), 2 * pixels * 7 * 9 * 3);
  EXPECT_EQ(launches[5].plan.arrays.back().compulsory.write_bytes, 2 * pixels * 7);
  problem[products::kSide] = 1;
  problem[products::kTileN] = 128;
  EXPECT_EQ(kernel.plan(problem, hopper_like()).size(), 1U);
}

// 64 channels and 64 filters are the least that wgmma takes, filters counted to 128. Its slabs of 64
// channels hold one tap's: 96 channels and nine taps take 18.
TEST(Convolution, MultipliesByWgmmaWhereATapsFiltersAreALargeMatrix) {
  const auto product = [](std::int64_t channels, std::int64_t filters, DType type) {
    const Problem problem{.dtype = type,
                          .values = {32, 56, 56, channels, filters, 3, 1, 128, 128, 1}};
    return products::kConvolutionFamily.variants.front().plan(problem, hopper_like()).front().plan;
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
      products::kConvolutionFamily.variants.front().plan(problem, hopper_like());
  ASSERT_EQ(launches.size(), 4U);
  EXPECT_EQ(launches[2].plan.useful.flops(), 0);
}

}  // namespace
}  // namespace roofcast
