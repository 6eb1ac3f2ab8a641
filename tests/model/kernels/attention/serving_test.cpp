// How TensorRT-LLM shares out decoding, by hand from its public rules, on 132 SMs.
#include <gtest/gtest.h>

#include "model/counting/totals.hpp"
#include "model/libraries/attention_tiles.hpp"
#include "tests/model/kernels/attention/problems.hpp"

namespace roofcast::attention {
namespace {

const Gpu& h100() {
  static const Gpu gpu = gpu_named("h100-sxm5");
  return gpu;
}

Blocks decoded(std::int64_t batch, std::int64_t heads, std::int64_t kv_heads, std::int64_t keys) {
  return library_forward(of(kTrtllm, decode(batch, heads, kv_heads, keys)), h100());
}

std::int64_t splits(std::int64_t batch, std::int64_t heads, std::int64_t kv_heads,
                    std::int64_t keys) {
  return decoded(batch, heads, kv_heads, keys).splits;
}

bool takes_groups(std::int64_t batch, std::int64_t heads, std::int64_t kv_heads,
                  std::int64_t keys) {
  return decoded(batch, heads, kv_heads, keys).kernel.on_tensor_cores();
}

TEST(AttentionServing, GroupsAreDecodedTogether) {
  EXPECT_TRUE(takes_groups(33, 8, 1, 100));
  EXPECT_FALSE(takes_groups(64, 8, 8, 4096));   // lone heads
  EXPECT_FALSE(takes_groups(64, 64, 1, 4096));  // more than a tile has rows
}

TEST(AttentionServing, KeysOfGroupsAreSplit) {
  EXPECT_EQ(splits(4, 64, 8, 512), 4);      // 128 keys each
  EXPECT_EQ(splits(4, 64, 8, 16384), 32);   // 128 parts: no more than sqrt(8 * 128)
  EXPECT_EQ(splits(16, 128, 8, 16384), 8);  // 8 rounds of 132 places for 128 heads
  EXPECT_EQ(splits(1500, 8, 1, 16384), 1);
}

TEST(AttentionServing, KeysOfLoneHeadsAreSplitToFillTheSms) {
  EXPECT_EQ(splits(1, 1, 1, 511), 1);  // a block of 1024 threads takes 512 keys at once
  EXPECT_EQ(splits(1, 1, 1, 512), 2);  // the new token counts once more
  EXPECT_EQ(splits(1, 1, 1, 8192), 17);
  EXPECT_EQ(splits(4, 8, 8, 65536), 5);  // 32 heads on 132 SMs
  EXPECT_EQ(splits(16, 32, 32, 4096), 1);
}

TEST(AttentionServing, BlocksOfLoneHeadsGrowWhereTheyAreFew) {
  const auto warps = [](std::int64_t batch) { return decoded(batch, 8, 8, 1024).tile.warps; };
  EXPECT_EQ(warps(66), 8);   // 528 heads: four blocks an SM
  EXPECT_EQ(warps(33), 16);  // 264: two
  EXPECT_EQ(warps(16), 32);
}

// 8192 keys are 32 tiles: of 23 parts nine have two.
TEST(AttentionServing, TilesOfKeysAreDealtOut) {
  const Problem p = decode(8, 16, 2, 8192);
  ASSERT_EQ(splits(8, 16, 2, 8192), 23);
  const Plan plan = plan_library(of(kTrtllm, p, 23), h100()).back().plan;
  const auto steps = [](const BlockClass& blocks) {
    double sum = 0;
    for (const Phase& phase : blocks.phases) {
      if (phase.step.waits.tile_loads > 0 && phase.ahead > 0) sum += phase.repeats;
    }
    return sum;
  };
  ASSERT_EQ(plan.blocks.size(), 3U);  // the last adds the parts
  EXPECT_EQ(plan.blocks[0].count, 8 * 16);
  EXPECT_EQ(plan.blocks[1].count, 14 * 16);
  EXPECT_EQ(plan.blocks[2].count, 16);
  EXPECT_DOUBLE_EQ(steps(plan.blocks[0]), 2);
  EXPECT_DOUBLE_EQ(steps(plan.blocks[1]), 1);
  EXPECT_DOUBLE_EQ(steps(plan.blocks[2]), 2);
}

TEST(AttentionServing, LongRowsOfTheCacheAreReadInParts) {
  const auto density = [](std::int64_t head_dim) {
    Problem p = decode(8, 16, 2, 8192);
    p[kHeadDim] = head_dim;
    return group_read_density(Shape(p));
  };
  EXPECT_DOUBLE_EQ(density(64), 1);
  EXPECT_DOUBLE_EQ(density(128), 1);
  EXPECT_LT(density(256), 1);
}

TEST(AttentionServing, TheLastBlockOfAHeadAddsTheParts) {
  const LaunchSequence program = plan_library(of(kTrtllm, decode(4, 64, 8, 512), 4), h100());
  ASSERT_EQ(program.size(), 2U);  // new keys and values go to the cache before
  const Plan& plan = program.back().plan;
  ASSERT_EQ(plan.blocks.size(), 2U);
  EXPECT_EQ(plan.blocks[0].count, 3 * 32);
  EXPECT_EQ(plan.blocks[1].count, 32);
  EXPECT_EQ(plan.launch.blocks(), 4 * 32);
  // K and V of 512 keys each once, Q of each part, the parts written and read.
  const double row = 128 * 2, parts = 4.0 * 4 * 64 * 129 * 4;
  const Traffic l2 = issued_by_launch(plan).l2;
  EXPECT_DOUBLE_EQ(l2.read_bytes, 2 * 32 * 512 * row + 4 * 4 * 64 * row + parts);
}

}  // namespace
}  // namespace roofcast::attention
