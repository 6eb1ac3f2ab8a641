#include "model/counting/totals.hpp"

#include <gtest/gtest.h>

namespace roofcast {
namespace {

Step step_of(double flops, Traffic traffic) {
  Step step;
  step.issued.vector_flops = flops;
  step.issued.requested = step.issued.l1 = step.issued.l2 = traffic;
  step.issued.shared_bytes = 3 * flops;
  return step;
}

// Three blocks of twice 5 and once 1 FLOP, and one of 7.
Plan two_classes() {
  Plan plan;
  plan.blocks = {{3, {{step_of(5, {10, 1}), 2}, {step_of(1, {0, 4})}}},
                 {1, {{step_of(7, {2, 2})}}}};
  plan.useful.vector_flops = 36;
  plan.arrays = {{.array = 0, .compulsory = {40, 0}, .footprint = {64, 0}},
                 {.array = 1, .compulsory = {0, 15}, .footprint = {0, 32}}};
  return plan;
}

TEST(Totals, PhasesRepeatAndBlocksAddUp) {
  EXPECT_EQ(issued_by_launch(two_classes()).vector_flops, 3 * (2 * 5 + 1) + 7);
}

TEST(Totals, TheUsefulArithmeticAndTheIssuedTraffic) {
  const Work total = total_work(two_classes());
  EXPECT_EQ(total.vector_flops, 36);
  EXPECT_EQ(total.requested.read_bytes, 3 * 20 + 2);
  EXPECT_EQ(total.l1.write_bytes, 3 * (2 + 4) + 2);
  EXPECT_EQ(total.l2.total_bytes(), 62 + 20);
  EXPECT_EQ(total.shared_bytes, 3 * 40);
  EXPECT_EQ(total.compulsory.read_bytes, 40);
  EXPECT_EQ(total.compulsory.write_bytes, 15);
  EXPECT_EQ(total.dram_footprint.read_bytes, 64);
  EXPECT_EQ(total.dram_footprint.write_bytes, 32);
  EXPECT_EQ(total.dram.total_bytes(), 0);
}

// Arrays 0 and 1 of 60 B and 40 B, whoever reads and writes them: 100 B in all.
TEST(TouchedBytes, EachArrayCountsOnceWithItsLargestUse) {
  Plan first, second;
  first.arrays = {{.array = 0, .compulsory = {60, 0}, .footprint = {50, 0}},
                  {.array = 1, .compulsory = {0, 40}, .footprint = {0, 40}}};
  second.arrays = {{.array = 1, .compulsory = {40, 0}, .footprint = {40, 0}},
                   {.array = 0, .compulsory = {0, 30}, .footprint = {0, 30}}};
  const LaunchSequence program = {{first}, {second, 10}};
  EXPECT_EQ(touched_bytes(program), 100);
}

}  // namespace
}  // namespace roofcast
