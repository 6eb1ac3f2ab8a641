// Epilogues of cuBLASLt's GEMMs, by counts worked out by hand.
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

}  // namespace
}  // namespace roofcast
