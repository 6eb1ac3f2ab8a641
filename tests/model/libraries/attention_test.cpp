#include "model/libraries/attention.hpp"

#include <gtest/gtest.h>

#include <array>

#include "model/counting/totals.hpp"
#include "model/kernels/attention/blocks.hpp"
#include "model/libraries/attention_tiles.hpp"
#include "tests/model/kernels/attention/problems.hpp"

namespace roofcast::attention {
namespace {

// With 300 queries and 5 keys a causal mask leaves tiles without a key, and more parts than steps
// of keys leave parts without one: their blocks still write zeros, which the next launch reads.
TEST(AttentionLibrary, EveryPartIsWritten) {
  const Gpu gpu = gpu_named("h100-sxm5");
  for (const Library library : {kCudnn, kFa2, kFa3}) {
    for (const std::int64_t splits : {1, 2, 16, 128}) {
      for (const std::int64_t keys : {1, 5, 80, 500}) {
        for (const bool causal : {false, true}) {
          Problem p = of(library, prefill(1, 8, 300, 64, causal), splits);
          p[kSeqKv] = keys;
          const LaunchSequence launches = plan_library(p, gpu);
          double parts = 0;
          for (const Launched& one : launches) {
            for (const ArrayUse& use : one.plan.arrays) {
              if (use.array == kParts) parts += use.footprint.write_bytes;
            }
          }
          const Prediction answer = forecast(p, gpu);
          EXPECT_GE(answer.work.l2.write_bytes, parts * (1 - 1e-9)) << library << ' ' << splits;
          EXPECT_LE(answer.work.dram.write_bytes, answer.work.l2.write_bytes * (1 + 1e-9))
              << library << ' ' << splits << ' ' << keys << ' ' << causal;
        }
      }
    }
  }
}

Blocks paged(Library library, std::int64_t batch, std::int64_t kv_heads, std::int64_t keys) {
  Problem p = of(library, decode(batch, 8, kv_heads, keys));
  p[kCacheWrites] = kWritesKv;
  return library_forward(p, gpu_named("h100-sxm5"));
}

// mha_varlen_fwd splits keys for grouped heads alone; it runs the kernel of split keys anyway.
TEST(AttentionLibrary, Flash2SplitsKeysInPagesOfGroupsAlone) {
  EXPECT_EQ(paged(kFa2, 1, 8, 65536).splits, 1);
  EXPECT_GT(paged(kFa2, 1, 1, 65536).splits, 1);
  EXPECT_EQ(paged(kFa2, 1, 8, 65536).tile.queries, 64);
}

// flash_fwd_launch_template.h, and the grids of PyTorch's kernels on an H200.
TEST(AttentionLibrary, Flash2TakesTheTilesOfItsGpu) {
  const auto tile = [](const char* gpu, std::int64_t head_dim, bool causal) {
    const Problem p = of(kFa2, prefill(4, 16, 500, head_dim, causal), 1);
    const Tile found = library_forward(p, gpu_named(gpu)).tile;
    return std::array{found.queries, found.keys, found.warps};
  };
  using Sizes = std::array<std::int64_t, 3>;
  EXPECT_EQ(tile("h200-sxm", 64, true), (Sizes{128, 128, 4}));
  EXPECT_EQ(tile("h200-sxm", 128, true), (Sizes{128, 64, 4}));
  EXPECT_EQ(tile("l40s", 128, true), (Sizes{64, 64, 4}));
  EXPECT_EQ(tile("l40s", 128, false), (Sizes{128, 32, 4}));
  EXPECT_EQ(tile("h200-sxm", 192, false), (Sizes{128, 64, 8}));
  EXPECT_EQ(tile("a100-sxm4-80gb", 256, true), (Sizes{128, 64, 8}));
  EXPECT_EQ(tile("h200-sxm", 256, true), (Sizes{64, 64, 4}));
}

// flash_fwd_kernel.h: n_masking_steps. The tile of 128×64 masks two steps, and a third where
// lengths or the head dim fill no tile.
TEST(AttentionLibrary, Flash2MasksAStepMoreWhereTilesAreNotFull) {
  const auto copies = [](std::int64_t length, std::int64_t head_dim, bool causal) {
    const Problem p = of(kFa2, prefill(4, 16, length, head_dim, causal), 1);
    return library_forward(p, gpu_named("h200-sxm")).tile.masked_copies;
  };
  EXPECT_EQ(copies(512, 128, true), 2);
  EXPECT_EQ(copies(500, 128, true), 3);
  EXPECT_EQ(copies(512, 120, true), 3);
  EXPECT_EQ(copies(500, 128, false), 1);
}

TEST(AttentionLibrary, Flash3SplitsKeysUntilTheWaveIsNearlyFull) {
  EXPECT_EQ(paged(kFa3, 1, 8, 65536).splits, 15);  // 8 heads on 132 SMs
  EXPECT_EQ(paged(kFa3, 1, 8, 256).splits, 1);     // two steps
  EXPECT_EQ(paged(kFa3, 1024, 8, 1024).splits, 1);
}

TEST(AttentionLibrary, ACacheTakesNewTokensAlone) {
  Problem p = of(kFa2, decode(4, 8, 2, 4096), 1);
  p[kCacheWrites] = kWritesKv;
  const LaunchSequence program = plan_library(p, gpu_named("l40s"));
  ASSERT_EQ(program.size(), 4U);  // heads as queries, the cache, attention, heads in their places
  EXPECT_EQ(program[1].plan.arrays.front().footprint.read_bytes, 2 * 4 * 2 * 128 * 2.0);
  p[kKvHeads] = 8;
  EXPECT_EQ(plan_library(p, gpu_named("l40s")).size(), 2U);
}

TEST(AttentionLibrary, PyTorchCopiesGradientsOfHeadsBeforeTokens) {
  Problem p = of(kFa2, decode(4, 8, 8, 1024), 1);
  p[kSeqQ] = 1024;
  p[kPass] = kBackward;
  const LaunchSequence copied = plan_library(p, gpu_named("h100-sxm5"));
  p[kLayout] = kTokensFirst;
  const LaunchSequence whole = plan_library(p, gpu_named("h100-sxm5"));
  ASSERT_EQ(copied.size(), whole.size() + 2);
  const double q_bytes = 4 * 8 * 1024 * 128 * 2.0;
  for (const ArrayUse& use : copied.front().plan.arrays) {
    EXPECT_EQ(use.footprint.read_bytes + use.footprint.write_bytes, q_bytes);
  }
}

TEST(AttentionLibrary, TensorMemoryDecodesNoLargeGroups) {
  const Gpu b200 = gpu_named("b200");
  const auto by_tensor_cores = [&](std::int64_t heads) {
    return library_forward(of(kTrtllm, decode(4, heads, 1, 4096)), b200).kernel.on_tensor_cores();
  };
  EXPECT_TRUE(by_tensor_cores(32));
  EXPECT_FALSE(by_tensor_cores(64));
}

// TensorRT-LLM's caches are paged: a block loads the length and the pages before the first keys.
TEST(AttentionLibrary, DecodingFromPagesWaitsForThem) {
  for (const char* gpu : {"b200", "h100-sxm5"}) {
    const auto loads = [&](Library library) {
      return library_forward(of(library, decode(4, 32, 4, 4096)), gpu_named(gpu))
          .tile.waits_before.global;
    };
    EXPECT_GT(loads(kTrtllm), loads(kCudnn)) << gpu;
  }
}

Plan rotation(const char* gpu, const Problem& shape, std::int64_t kv_heads) {
  Problem p = of(kTrtllm, shape, 1);
  p[kKvHeads] = kv_heads;
  p[kCacheWrites] = kWritesQkv;
  return plan_library(p, gpu_named(gpu))[1].plan;
}

// Each of four query heads reads its rows and, once more, those of the one head of K and V, with 64
// sines and cosines a token; the first writes K and V. A block has 32 tokens of 128 bytes.
TEST(AttentionLibrary, EachQueryHeadReadsItsKeysToRotateThem) {
  const Plan plan = rotation("h100-sxm5", prefill(2, 4, 256, 64, true), 1);
  const double row = 2.0 * 64, rows = 2 * 256 * 4;
  EXPECT_EQ(plan.launch.grid[0], 4 * 16);
  EXPECT_EQ(issued_by_launch(plan).l2.read_bytes, rows * (3 * row + 256));
  EXPECT_EQ(issued_by_launch(plan).l2.write_bytes, rows * row + 2 * 512 * row);
  const Plan in_place = rotation("a100-sxm4-80gb", prefill(2, 4, 256, 64, true), 1);
  EXPECT_EQ(issued_by_launch(in_place).l2.write_bytes, rows * row + 3 * 512 * row);
}

// 66 blocks a head are 528 for 8 heads, a full wave; each takes several of the 512 tiles of a head.
TEST(AttentionLibrary, BlocksThatRotateFillWavesAndGoOn) {
  const Plan plan = rotation("h100-sxm5", prefill(16, 8, 1024, 64, true), 8);
  EXPECT_EQ(plan.launch.grid[0], 528);
  ASSERT_EQ(plan.blocks.size(), 1U);
  EXPECT_DOUBLE_EQ(plan.blocks[0].phases.front().repeats, 512.0 / 66);
}

double steps_of(const Plan& plan) {
  double steps = 0;
  for (const Phase& phase : plan.blocks.front().phases) {
    if (phase.ahead > 0) steps += phase.repeats;
  }
  return steps;
}

Plan prefill_plan(Library library, std::int64_t queries, std::int64_t head_dim) {
  const Problem p = of(library, prefill(64, 8, queries, head_dim, true), 1);
  return plan_library(p, gpu_named("h100-sxm5")).back().plan;
}

TEST(AttentionLibrary, TensorRtBeginsWithTheLongestTilesWhereKeysFitL2) {
  EXPECT_EQ(steps_of(prefill_plan(kTrtllm, 512, 64)), 1);  // each head's in order
  const Problem few = of(kTrtllm, prefill(1, 8, 512, 64, true), 1);
  EXPECT_EQ(steps_of(plan_library(few, gpu_named("h100-sxm5")).back().plan), 2);
}

// Both products of a step of 64 keys and 256 elements take 1024 clocks. A warpgroup that waits for
// each product waits 1280 for Q·Kᵀ: so long it reads the operands from shared memory.
TEST(AttentionLibrary, NarrowProductsWaitForSharedMemory) {
  const auto operands = [](Library library) {
    return prefill_plan(library, 4096, 256).blocks.front().phases[1].step.wavefronts.operands;
  };
  EXPECT_EQ(operands(kTrtllm), 1280 + 1024);
  EXPECT_EQ(operands(kCudnn), 1280 + 1024);
}

}  // namespace
}  // namespace roofcast::attention
