// GEMMs with int4 weights, by counts worked out by hand.
#include <gtest/gtest.h>

#include "model/libraries/gemm.hpp"
#include "model/roofcast.hpp"
#include "tests/model/devices.hpp"

namespace roofcast {
namespace {

using testing::hopper_like;

// 4096 × 4096 weights: half a byte and a scale of 2 B for 128 of them.
TEST(Int4Gemm, ReadAQuarterOfTheWeights) {
  Problem problem{.dtype = DType::bf16, .values = {8, 4096, 4096, 64, 64, 1, 0, 1}};
  const double weights = 4096.0 * 4096 * (0.5 + 2.0 / 128);
  const auto program = gemm::kInt4Family.variants.front().plan(problem, hopper_like());
  EXPECT_DOUBLE_EQ(program.front().plan.arrays[1].footprint.read_bytes, weights);
  const Work work = gemm::kInt4Family.work(problem);
  EXPECT_DOUBLE_EQ(work.compulsory.read_bytes, weights + 8.0 * 4096 * 2);
  EXPECT_DOUBLE_EQ(work.flops(), 2.0 * 8 * 4096 * 4096);
}

TEST(Int4Gemm, AreFasterWhereWeightsSetTheTimeAlone) {
  const auto time_s = [](const char* kernel, std::int64_t m) {
    Problem problem{.dtype = DType::bf16, .values = {m, 8192, 8192}};
    problem[7] = 1;  // batch
    return predict(find_kernel(kernel), problem, hopper_like()).time->expected_s;
  };
  EXPECT_LT(time_s("gemm_int4.library", 8), 0.5 * time_s("gemm.library", 8));
  EXPECT_GE(time_s("gemm_int4.library", 8192), time_s("gemm.library", 8192));
}

}  // namespace
}  // namespace roofcast
