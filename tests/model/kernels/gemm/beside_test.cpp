// Launches beside a product on the tensor cores, counted by hand: copies of operands, sums of
// parts.
#include "model/kernels/gemm/tensor_plan.hpp"

#include <gtest/gtest.h>

#include "tests/model/kernels/gemm/tensor_problems.hpp"
#include "tests/model/scan/questions.hpp"

namespace roofcast::gemm::tensor {
namespace {

using roofcast::testing::gpu_named;

TEST(TensorCopies, EndsOfRowsGoElementByElement) {
  const auto waits = [](std::int64_t columns) {
    const Matrix matrix{4096, columns, 2};
    return copy_of_rows(matrix, reads(kA, matrix.bytes()), kCopyOfA)
        .blocks.front()
        .phases.front()
        .step.waits;
  };
  // Four rows, whose ends go one element after the other, and lie in 6 of 32 bytes on average.
  EXPECT_EQ(waits(1003).global, 1 + 4 * 6 / 32.0);
  EXPECT_EQ(waits(1003).shared, 4 * 3);
  EXPECT_EQ(waits(1001).shared, 4 * 9);  // the words of the last whole vector end beyond
  EXPECT_EQ(waits(1000).shared, 4 * 8);
}

TEST(TensorSums, ALaunchThatReadsPartsFetchesItsCodeAnew) {
  const Gpu h100 = gpu_named("h100-sxm5");
  const LaunchSequence program = plan_wgmma(product(128, 256, 4096, {128, 256, 64, 4, 1}), h100);
  EXPECT_EQ(program.front().plan.start, Start::at_once);
  EXPECT_EQ(program.back().plan.start, Start::code);
}

TEST(TensorSums, PartsThatAreLeftAreWaitedForOneByOne) {
  const auto waits = [](std::int64_t parts) {
    return sum_of_parts(product(128, 256, 4096, {128, 256, 64, parts, 1}))
        .blocks.front()
        .phases.front()
        .step.waits.global;
  };
  EXPECT_EQ(waits(2), 2);
  EXPECT_EQ(waits(3), 3);
  EXPECT_EQ(waits(4), 1);
  EXPECT_EQ(waits(6), 3);
}

}  // namespace
}  // namespace roofcast::gemm::tensor
