// Blocks and steps of attention, against counts pair by pair.
#include "model/kernels/attention/blocks.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "model/counting/totals.hpp"
#include "tests/model/kernels/attention/problems.hpp"

namespace roofcast::attention {
namespace {

Shape shape_of(std::int64_t queries, std::int64_t keys, bool causal) {
  Problem p = prefill(1, 1, queries, 64, causal);
  p[kSeqKv] = keys;
  return Shape(p);
}

/// Pairs of queries [q0, q1) and keys [k0, k1): those that the mask leaves, and all.
struct Pairs {
  std::int64_t seen = 0, all = 0;
};
Pairs pairs_of(const Shape& shape, std::int64_t q0, std::int64_t q1, std::int64_t k0,
               std::int64_t k1) {
  Pairs pairs;
  for (std::int64_t q = q0; q < std::min(q1, shape.seq_q); ++q) {
    for (std::int64_t k = k0; k < k1; ++k) {
      ++pairs.all;
      if (k < shape.visible(q)) ++pairs.seen;
    }
  }
  return pairs;
}

void for_shapes(const std::function<void(const Shape&)>& check) {
  for (const std::int64_t queries : {1, 5, 64, 65, 100}) {
    for (const std::int64_t more : {0, 1, 31, 64, 100}) {
      for (const bool causal : {false, true}) check(shape_of(queries, queries + more, causal));
    }
  }
}

TEST(AttentionBlocks, StepsOverKeysAreTilesWithASeenPair) {
  for_shapes([](const Shape& shape) {
    for (const std::int64_t rows : {16, 48}) {
      for (const std::int64_t keys : {16, 40}) {
        for (std::int64_t q = 0; q < shape.seq_q; q += rows) {
          double full = 0, masked = 0;
          for (std::int64_t k = 0; k < shape.seq_kv; k += keys) {
            const Pairs pairs = pairs_of(shape, q, q + rows, k, k + keys);
            if (pairs.seen == 0) continue;
            ++(pairs.seen == pairs.all ? full : masked);
          }
          const Steps found = steps_over_keys(shape, q, std::min(q + rows, shape.seq_q) - 1, keys);
          EXPECT_EQ(found.full, full) << shape.seq_q << " " << shape.seq_kv << " " << q;
          EXPECT_EQ(found.masked, masked) << shape.seq_q << " " << shape.seq_kv << " " << q;
        }
      }
    }
  });
}

TEST(AttentionBlocks, StepsOverQueriesAreTilesWithASeenPair) {
  for_shapes([](const Shape& shape) {
    for (const std::int64_t keys : {16, 48}) {
      for (const std::int64_t queries : {16, 40}) {
        for (std::int64_t k = 0; k < shape.seq_kv; k += keys) {
          const std::int64_t end = std::min(k + keys, shape.seq_kv);
          double full = 0, masked = 0;
          for (std::int64_t q = 0; q < shape.seq_q; q += queries) {
            const Pairs pairs = pairs_of(shape, q, q + queries, k, end);
            if (pairs.seen == 0) continue;
            ++(pairs.seen == pairs.all ? full : masked);
          }
          const Steps found = steps_over_queries(shape, k, end - 1, queries);
          EXPECT_EQ(found.full, full) << shape.seq_q << " " << shape.seq_kv << " " << k;
          EXPECT_EQ(found.masked, masked) << shape.seq_q << " " << shape.seq_kv << " " << k;
        }
      }
    }
  });
}

/// Steps of one FLOP, so that FLOPs count steps.
BlockSteps counting_steps() {
  BlockSteps blocks{};
  blocks.loop.step.issued.vector_flops = 1;
  blocks.loop.ahead = 1;
  return blocks;
}

// mma.sync copies whole sectors: three of a row of 80 bytes. TMA boxes hold the compiled head.
TEST(AttentionBlocks, CopiesAskForSectors) {
  const auto copied = [](std::int64_t head_dim, Instruction product) {
    const Shape shape(prefill(1, 1, 64, head_dim, false));
    const Kernel kernel{product};
    return Blocks{shape, kernel, {}, padded_head(head_dim)}.copied_row_bytes();
  };
  EXPECT_EQ(copied(40, Instruction::mma_sync), 96);
  EXPECT_EQ(copied(80, Instruction::mma_sync), 160);
  EXPECT_EQ(copied(64, Instruction::mma_sync), 128);
  EXPECT_EQ(copied(40, Instruction::wgmma), 128);
  EXPECT_EQ(copied(80, Instruction::wgmma), 256);
}

TEST(AttentionBlocks, PartiesOfHeadsFollowEachOther) {
  Plan plan;
  // Five heads, two together, each with tiles of 3, 2, 2 and 1 steps.
  add_blocks(plan, counting_steps(), {{3, 0}, {2, 0}, {2, 0}, {1, 0}}, 5, 2);
  std::vector<std::int64_t> counts;
  for (const BlockClass& each : plan.blocks) counts.push_back(each.count);
  EXPECT_EQ(counts, (std::vector<std::int64_t>{2, 4, 2, 2, 4, 2, 1, 2, 1}));
  EXPECT_EQ(issued_by_launch(plan).vector_flops, 5 * 8);
}

// A thousand tiles that all differ: few classes, and no step is lost.
TEST(AttentionBlocks, ManyTilesAreFewClassesWithTheSameSteps) {
  std::vector<Steps> tiles;
  double steps = 0;
  for (int i = 1000; i > 0; --i) {
    tiles.push_back({static_cast<double>(i), 3});
    steps += i + 3;
  }
  Plan plan;
  add_blocks(plan, counting_steps(), tiles, 6, 2);
  EXPECT_LE(plan.blocks.size(), 64U);
  EXPECT_NEAR(issued_by_launch(plan).vector_flops, 6 * steps, 1e-6 * steps);
}

}  // namespace
}  // namespace roofcast::attention
