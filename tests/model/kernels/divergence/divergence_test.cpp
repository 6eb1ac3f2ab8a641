// Branches that lanes do not agree on, counted by hand.
#include "model/kernels/divergence/divergence.hpp"

#include <gtest/gtest.h>

#include "model/predict.hpp"
#include "tests/model/devices.hpp"
#include "tests/model/plans.hpp"

namespace roofcast {
namespace {

// Four chains of multiply-adds, of which three start with a sum, and three sums at the end.
TEST(Divergence, UsefulArithmeticIsThatOfOnePath) {
  const KernelRef family = find_kernel("divergence");
  const Problem p{.dtype = DType::fp32, .values = {1 << 20, 8, 64}};
  const Work work = family.family->work(p);
  EXPECT_EQ(work.vector_flops, (1 << 20) * (2 * 64 + 6.0));
  EXPECT_EQ(work.compulsory.read_bytes, 4 << 20);
  EXPECT_EQ(work.compulsory.write_bytes, 4 << 20);
  for (const KernelModel& variant : family.family->variants) {
    Problem whole = p;
    check({family.family, &variant}, whole, 0b111);
    const Plan plan = variant.plan(whole, testing::hopper_like()).front().plan;
    EXPECT_EQ(plan.useful.vector_flops, work.vector_flops) << variant.name;
    EXPECT_GE(issued_by_launch(plan).vector_flops, work.vector_flops) << variant.name;
  }
}

}  // namespace
}  // namespace roofcast
