// The parts that plans are built from.
#include "model/kernels/common/plan_parts.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace roofcast {
namespace {

Step full_step() {
  Step step;
  step.issued.vector_flops = 1000;
  step.issued.requested = step.issued.l1 = step.issued.l2 = {800, 200};
  step.warp_instructions = 100;
  step.wavefronts = {10, 20, 30};
  step.waits = {.global = 1, .barriers = 2};
  return step;
}

Plan plan_of(std::int64_t blocks, double share) {
  Plan plan;
  plan.launch.grid[0] = blocks;
  set_blocks_with_edge(plan, full_step(), share);
  return plan;
}

TEST(Require, SaysItsTextsAndNumbers) {
  EXPECT_NO_THROW(require(true, "rows is ", std::int64_t{3}));
  try {
    require(false, "rows is ", std::int64_t{3}, ": give 4");
    FAIL();
  } catch (const InputError& error) {
    EXPECT_STREQ(error.what(), "rows is 3: give 4");
  }
}

// Ten blocks of 256 threads for 2432 elements: nine full ones leave half a block's to the last.
TEST(SetBlocksWithEdge, TheEdgeDoesWhatFullBlocksLeave) {
  const Plan plan = plan_of(10, 256.0 / 2432);
  ASSERT_EQ(plan.blocks.size(), 2U);
  EXPECT_EQ(plan.blocks[0].count, 9);
  EXPECT_EQ(plan.blocks[1].count, 1);
  const Step& full = plan.blocks[0].phases.front().step;
  const Step& edge = plan.blocks[1].phases.front().step;
  EXPECT_EQ(full.issued.vector_flops, 1000);
  EXPECT_NEAR(edge.issued.vector_flops, 500, 1e-9);
  EXPECT_NEAR(edge.issued.l2.read_bytes, 400, 1e-9);
  EXPECT_NEAR(edge.warp_instructions, 50, 1e-9);
  EXPECT_NEAR(edge.wavefronts.shared, 5, 1e-9);
  EXPECT_NEAR(edge.wavefronts.l1, 10, 1e-9);
  EXPECT_NEAR(edge.wavefronts.l1_lookups, 15, 1e-9);
  // The edge waits as long as a full block.
  EXPECT_EQ(edge.waits.global, 1);
  EXPECT_EQ(edge.waits.barriers, 2);
}

TEST(SetBlocksWithEdge, BlocksThatFillTheLaunchHaveNoEdge) {
  const Plan even = plan_of(10, 0.1);  // 1 ÷ 0.1 is a little less than 10 in binary
  ASSERT_EQ(even.blocks.size(), 1U);
  EXPECT_EQ(even.blocks[0].count, 10);
  // A lone block has no edge: its step states all the work there is.
  const Plan alone = plan_of(1, 1);
  ASSERT_EQ(alone.blocks.size(), 1U);
  EXPECT_EQ(alone.blocks[0].phases.front().step.issued.vector_flops, 1000);
}

// 3.5 × 2.5 tiles of work in 4 × 3 blocks: 8 are whole, the other four share 0.75 evenly.
TEST(SetBlocksWithEdge, SeveralEdgesShareEvenly) {
  const Plan plan = plan_of(12, 1 / 8.75);
  ASSERT_EQ(plan.blocks.size(), 2U);
  EXPECT_EQ(plan.blocks[0].count, 8);
  EXPECT_EQ(plan.blocks[1].count, 4);
  EXPECT_NEAR(plan.blocks[1].phases.front().step.issued.vector_flops, 750.0 / 4, 1e-9);
}

RC_GTEST_PROP(SetBlocksWithEdge, TotalsArePreserved, ()) {
  const auto block = *rc::gen::inRange<std::int64_t>(1, 1025);
  const auto elements = *rc::gen::inRange<std::int64_t>(1, 100000000);
  RC_PRE(elements >= block);
  const std::int64_t blocks = (elements + block - 1) / block;
  const Plan plan = plan_of(blocks, as_double(block) / as_double(elements));
  const Work total = issued_by_launch(plan);
  const double full_blocks = as_double(elements) / as_double(block);
  const auto near = [](double a, double b) { return std::abs(a - b) <= 1e-9 * std::abs(b); };
  RC_ASSERT(near(total.vector_flops, 1000 * full_blocks));
  RC_ASSERT(near(total.requested.read_bytes, 800 * full_blocks));
  RC_ASSERT(near(total.l2.write_bytes, 200 * full_blocks));
  std::int64_t count = 0;
  for (const BlockClass& some : plan.blocks) count += some.count;
  RC_ASSERT(count == blocks);
}

}  // namespace
}  // namespace roofcast
