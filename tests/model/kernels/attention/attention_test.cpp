// Attention: its counts, by hand, and what its forecast does.
#include "model/kernels/attention/attention.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "model/counting/io_complexity.hpp"
#include "model/counting/totals.hpp"
#include "model/libraries/attention.hpp"
#include "model/libraries/attention_tiles.hpp"
#include "tests/model/kernels/attention/problems.hpp"

namespace roofcast::attention {
namespace {

double time_s(const Problem& p, const Gpu& gpu) {
  return forecast(p, gpu).time->expected_s;
}

TEST(AttentionShape, CountsPairsAsTheMaskLeavesThem) {
  Problem p = prefill(1, 1, 5, 64, true);
  EXPECT_EQ(Shape(p).pairs(), 15);  // 1 + 2 + 3 + 4 + 5
  p[kSeqKv] = 7;                    // the first query sees 3 keys, the last all 7
  EXPECT_EQ(Shape(p).pairs(), 3 + 4 + 5 + 6 + 7);
  p[kSeqKv] = 3;  // the first two see none
  EXPECT_EQ(Shape(p).pairs(), 1 + 2 + 3);
  p[kCausal] = 0;
  EXPECT_EQ(Shape(p).pairs(), 15);  // 5 · 3
}

TEST(AttentionShape, PairsAreTheSumOfWhatQueriesSee) {
  for (const std::int64_t queries : {1, 2, 63, 64, 65, 200}) {
    for (const std::int64_t keys : {1, 64, 100, 200, 513}) {
      Problem p = prefill(1, 1, queries, 64, true);
      p[kSeqKv] = keys;
      const Shape shape(p);
      double sum = 0;
      for (std::int64_t i = 0; i < queries; ++i) sum += static_cast<double>(shape.visible(i));
      EXPECT_EQ(shape.pairs(), sum) << queries << " queries, " << keys << " keys";
    }
  }
}

TEST(AttentionShape, HeadsThatDoNotDivideAreRefused) {
  Problem p = decode(1, 32, 5, 1000);
  EXPECT_THROW(Shape{p}, InputError);
  p[kKvHeads] = 8;
  EXPECT_EQ(Shape(p).group(), 4);
}

// 2 · 8 heads of 1024 queries and keys, 2 heads of K and V, d = 128, bf16.
TEST(AttentionFamily, CountsFlopsAndCompulsoryBytes) {
  Problem p = prefill(2, 8, 1024, 128, true);
  p[kKvHeads] = 2;
  const Prediction found = predict(find_kernel("attention"), p, gpu_named("h100-sxm5"));
  EXPECT_EQ(found.work.flops(), 4.0 * 16 * (1024.0 * 1025 / 2) * 128);
  const double q = 2.0 * 8 * 1024 * 128 * 2, kv = 2.0 * 2 * 1024 * 128 * 2;
  EXPECT_EQ(found.work.compulsory.read_bytes, q + 2 * kv);
  EXPECT_EQ(found.work.compulsory.write_bytes, q);
}

// Backward has five products, forward two. It also reads what forward left, and writes gradients.
TEST(AttentionFamily, BackwardIsFiveProducts) {
  Problem p = prefill(2, 8, 1024, 128, true);
  p[kKvHeads] = 2;
  const Gpu h100 = gpu_named("h100-sxm5");
  const Prediction forward = forecast("attention", p, h100);
  const Prediction found = forecast("attention", backward(p), h100);
  EXPECT_EQ(found.work.flops(), 2.5 * forward.work.flops());
  const double q = 2.0 * 8 * 1024 * 128 * 2, kv = 2.0 * 2 * 1024 * 128 * 2;
  const double lse = 2.0 * 8 * 1024 * 4;
  EXPECT_EQ(found.work.compulsory.read_bytes, 3 * q + 2 * kv + lse);  // Q, O, dO, K, V
  EXPECT_EQ(found.work.compulsory.write_bytes, q + 2 * kv);
}

// Θ(N²d²/M): 4·N²d²/M words through a memory of M = 64 KiB of bf16, N = 4096, d = 64.
TEST(AttentionFamily, IoComplexityFallsWithTheFastMemory) {
  const double scores = 4096.0 * 4096, words = 32768;
  const IoComplexity small = attention_io(scores, 64, 2, 1e6, words * 2);
  EXPECT_EQ(small.formula, "Θ(N²d²/M)");
  EXPECT_DOUBLE_EQ(small.lower_bound_bytes, 4 * scores * 64 * 64 / words * 2);
  EXPECT_DOUBLE_EQ(attention_io(scores, 64, 2, 1e6, 4 * words * 2).lower_bound_bytes,
                   small.lower_bound_bytes / 4);
  EXPECT_EQ(attention_io(scores, 64, 2, 1e6, 1e12).lower_bound_bytes, 1e6);
}

// FlashAttention-3, d = 128, causal: 128 queries and 128 keys a step.
TEST(AttentionLibrary, CausalBlocksAreUnequalAndTheLongestComeFirst) {
  const Gpu h100 = gpu_named("h100-sxm5");
  const LaunchSequence program = plan_library(of(kFa3, prefill(2, 4, 512, 128, true), 1), h100);
  ASSERT_EQ(program.size(), 1U);
  const Plan& plan = program.front().plan;
  EXPECT_EQ(plan.launch.blocks(), 2 * 4 * 4);
  ASSERT_EQ(plan.blocks.size(), 4U);
  std::int64_t whole = 3;  // tiles of keys that the tile of queries sees without a mask
  for (const BlockClass& blocks : plan.blocks) {
    EXPECT_EQ(blocks.count, 2 * 4);
    double masked = 0, full = 0;
    for (const Phase& phase : blocks.phases) {
      if (phase.step.issued.tensor_flops.total() <= 0) continue;
      (&phase == &blocks.phases[blocks.phases.size() - 2] ? masked : full) += phase.repeats;
    }
    EXPECT_EQ(full, whole);
    EXPECT_EQ(masked, 1);  // on the diagonal
    --whole;
  }
  // 1 + 2 + 3 + 4 steps for each head, whole tiles of products.
  EXPECT_EQ(issued_by_launch(plan).tensor_flops[DType::bf16], 8 * 10 * 4.0 * 128 * 128 * 128);
  EXPECT_EQ(plan.useful.tensor_flops[DType::bf16], 8 * 4.0 * (512.0 * 513 / 2) * 128);
  EXPECT_EQ(plan.useful.special_flops, 8 * 512.0 * 513 / 2);
  // Q once, K and V once a step; O once.
  EXPECT_EQ(issued_by_launch(plan).l2.read_bytes, 8 * (4 * 128 + 10 * 2 * 128) * 128 * 2.0);
  EXPECT_EQ(issued_by_launch(plan).l2.write_bytes, 8 * 512 * 128 * 2.0);
}

TEST(AttentionLibrary, WithoutAMaskAllBlocksAreEqual) {
  const Plan plan =
      plan_library(of(kFa3, prefill(1, 4, 1760, 128, false), 1), gpu_named("h100-sxm5"))
          .front()
          .plan;
  ASSERT_EQ(plan.blocks.size(), 1U);
  EXPECT_EQ(plan.blocks.front().count, 4 * 14);
  EXPECT_EQ(plan.blocks.front().phases[1].repeats, 10);  // of 176 keys
}

// Many classes are merged into few, with the same number of blocks and of steps.
TEST(AttentionLibrary, NeighbouringTilesCountAsEqual) {
  const Plan plan =
      plan_library(of(kFa3, prefill(1, 1, 128 * 100, 128, true), 1), gpu_named("h100-sxm5"))
          .front()
          .plan;
  EXPECT_LE(plan.blocks.size(), 32U);
  std::int64_t blocks = 0;
  for (const BlockClass& some : plan.blocks) blocks += some.count;
  EXPECT_EQ(blocks, 100);
  EXPECT_NEAR(issued_by_launch(plan).tensor_flops[DType::bf16],
              100 * 101 / 2 * 4.0 * 128 * 128 * 128, 1);
}

TEST(AttentionLibrary, QueryHeadsThatShareKeysFillATile) {
  const Gpu h100 = gpu_named("h100-sxm5");
  // 64 heads of one query share 8 heads of K and V: 8 rows a tile, keys read once a group. Boxes are
  // whole: 24 of 176 keys, and 128 queries.
  const Plan plan = plan_library(of(kFa3, decode(4, 64, 8, 4096), 1), h100).front().plan;
  EXPECT_EQ(plan.launch.blocks(), 4 * 8);
  const double kv = 2 * 4.0 * 8 * 24 * 176 * 128 * 2, q = 4.0 * 8 * 128 * 128 * 2;
  EXPECT_EQ(issued_by_launch(plan).l2.read_bytes, kv + q);
}

TEST(AttentionLibrary, SplitKeysAreAddedByAnotherLaunch) {
  const Gpu h100 = gpu_named("h100-sxm5");
  const LaunchSequence program = plan_library(of(kFa3, decode(1, 8, 1, 65536), 16), h100);
  ASSERT_EQ(program.size(), 2U);
  EXPECT_EQ(program[0].plan.launch.blocks(), 16);
  // Each part has 8 rows of 128 sums and what scales them.
  const double parts = 16.0 * 8 * 129 * 4;
  EXPECT_EQ(program[1].plan.arrays.front().footprint.read_bytes, parts);
}

TEST(AttentionLibrary, ALoneQueryAgainstALongCacheIsSplit) {
  const Gpu h100 = gpu_named("h100-sxm5");
  const Problem p = decode(1, 8, 1, 65536);
  const Prediction found = forecast(p, h100);
  EXPECT_GT(found.problem[kSplits], 8);
  EXPECT_LT(found.time->expected_s, time_s(of(kFa3, p, 1), h100) / 4);
  // Enough sequences fill the device without a split.
  EXPECT_EQ(forecast(decode(512, 32, 8, 4096), h100).problem[kSplits], 1);
}

TEST(AttentionLibrary, BestIsTheFastestOfThree) {
  const Problem p = prefill(4, 16, 4096, 128, true);
  for (const char* name : {"h100-sxm5", "a100-sxm4-80gb"}) {
    const Gpu gpu = gpu_named(name);
    const double best = time_s(of(kBest, p), gpu);
    EXPECT_LE(best, time_s(of(kFa2, p), gpu));
    EXPECT_LE(best, time_s(of(kCudnn, p), gpu));
  }
}

TEST(AttentionLibrary, LibrariesNeedTheirInstructions) {
  const Problem p = prefill(1, 16, 1024, 128, true);
  EXPECT_THROW(forecast(of(kFa3, p), gpu_named("a100-sxm4-80gb")), InputError);
  EXPECT_THROW(forecast(of(kFa2, p), gpu_named("v100-sxm2")), InputError);
  EXPECT_NO_THROW(forecast(of(kFa2, p), gpu_named("h100-sxm5")));
}

// An Ada or Turing SM has 99 KB or 64 for a block where a Hopper SM has 227.
TEST(AttentionLibrary, TilesFitTheSharedMemoryThereIs) {
  for (const char* name : {"l40s", "t4", "a100-sxm4-80gb", "h100-sxm5", "b200"}) {
    const Gpu gpu = gpu_named(name);
    for (const Library library : {kCudnn, kFa2, kFa3, kTrtllm}) {
      if (!gpu.features.has(kernel_of(library, gpu).product)) continue;
      for (const std::int64_t head_dim : {64, 128, 192, 256}) {
        for (const std::int64_t keys : {std::int64_t{0}, std::int64_t{5000}}) {
          Problem p = keys == 0 ? prefill(2, 8, 1024, head_dim, true) : decode(4, 16, 2, keys);
          p[kHeadDim] = head_dim;
          const Blocks c = library_forward(of(library, p, 1), gpu);
          EXPECT_LE(c.tile.shared_bytes, gpu.occupancy->shared_bytes_per_block)
              << name << ' ' << library << ' ' << head_dim << ' ' << keys;
        }
      }
    }
  }
}

TEST(AttentionLibrary, WithTensorMemoryTensorRtLlmRunsSuchKernels) {
  const Gpu b200 = gpu_named("b200");
  EXPECT_EQ(kernel_of(kTrtllm, b200).product, Instruction::tcgen05);
  const Problem p = prefill(1, 32, 8192, 128, true);
  EXPECT_EQ(forecast(of(kTrtllm, p), b200).time->expected_s,
            forecast(of(kCudnn, p), b200).time->expected_s);
}

// At d = 64 an exponential takes as long as the products of its score: a roof of its own.
TEST(AttentionLibrary, ExponentialsAreARoofOfTheirOwn) {
  Gpu h100 = gpu_named("h100-sxm5");
  h100.sustained.vector_flop_energy_j.reset();  // else in the fullest pipe's term
  const auto terms = [&](std::int64_t head_dim) {
    const Prediction found = forecast(of(kFa3, prefill(1, 32, 16384, head_dim, true)), h100);
    return found.time->terms[Resource::special] / found.time->terms[Resource::tensor];
  };
  EXPECT_NEAR(terms(64), 1, 0.1);
  EXPECT_NEAR(terms(128), 0.5, 0.06);
  EXPECT_NEAR(terms(256), 0.25, 0.06);
}

// hardware_facts.md: FA3 on an H100 SXM forward, d128, 16k, causal and not: 616 and 648 TFLOP/s;
// FA2 on an A100 about 0.7 of the peak. 0.17: cycles are forecast 9% too high, at the clock that
// tensor cores have (clock.hpp).
TEST(AttentionLibrary, ComesNearPublishedRates) {
  const auto rate = [](const Problem& p, const Gpu& gpu) {
    const Prediction found = forecast(p, gpu);
    return Shape(p).flops() / found.time->expected_s;
  };
  const Gpu h100 = gpu_named("h100-sxm5");
  EXPECT_NEAR(rate(of(kFa3, prefill(1, 16, 16384, 128, true)), h100) / 616e12, 1, 0.15);
  EXPECT_NEAR(rate(of(kFa3, prefill(1, 16, 16384, 128, false)), h100) / 648e12, 1, 0.17);
}

// hardware_facts.md: FA3's backward reaches 561 to 575 TFLOP/s at d128 (kernel_notes.md), cuDNN's
// 516 to 580; FA2 forward and backward together 338 on an H100 and 203 on an A100, at 16k without a
// mask.
TEST(AttentionLibrary, BackwardComesNearPublishedRates) {
  const auto rate = [](const Problem& p, const Gpu& gpu) {
    return Shape(p).flops() / time_s(p, gpu);
  };
  const Gpu h100 = gpu_named("h100-sxm5"), a100 = gpu_named("a100-sxm4-80gb");
  const Problem p = prefill(1, 16, 16384, 128, false);
  EXPECT_NEAR(rate(of(kFa3, backward(p)), h100) / 568e12, 1, 0.15);
  const auto both = [&](const Gpu& gpu) {
    const double flops = Shape(p).flops() * 3.5;
    return flops / (time_s(of(kFa2, p), gpu) + time_s(of(kFa2, backward(p)), gpu));
  };
  EXPECT_NEAR(both(h100) / 338e12, 1, 0.2);
  EXPECT_NEAR(both(a100) / 203e12, 1, 0.25);
}

// Three launches: rows of dO∘O, blocks of keys, dQ.
TEST(AttentionLibrary, LaunchesOfBackward) {
  const Gpu h100 = gpu_named("h100-sxm5");
  const Problem p = backward(prefill(2, 8, 1000, 64, true));
  for (const Library library : {kCudnn, kFa2, kFa3}) {
    Problem one = of(library, p, 1);
    one[kLayout] = kTokensFirst;
    const LaunchSequence program = plan_library(one, h100);
    ASSERT_EQ(program.size(), 3U);
    EXPECT_EQ(program[1].plan.useful.tensor_flops[DType::bf16], Shape(p).flops());
    EXPECT_TRUE(program[1].plan.notes.estimated_traffic);
  }
}

TEST(AttentionLibrary, BackwardOfAGroupAddsItsHeads) {
  const Gpu h100 = gpu_named("h100-sxm5");
  Problem p = backward(prefill(2, 8, 1000, 64, true));
  p[kKvHeads] = 2;
  p = of(kFa2, p, 1);
  p[kLayout] = kTokensFirst;
  const LaunchSequence program = plan_library(p, h100);
  ASSERT_EQ(program.size(), 5U);
  // Each query head has 8 tiles of keys; dK and dV of four heads are added to one each.
  EXPECT_EQ(program[1].plan.launch.blocks(), 2 * 8 * 8);
  const double kv_bytes = Shape(p).kv_bytes();
  const Plan& sum = program.back().plan;
  EXPECT_EQ(sum.arrays.front().footprint.read_bytes, 4 * kv_bytes);
  EXPECT_EQ(sum.arrays.back().footprint.write_bytes, kv_bytes);
}

// The parts into which each library's rule splits keys, from the grids of
// validation/measured/*-attention-libraries-2026-11-24.
TEST(AttentionLibrary, SplitsFollowTheLibrarysRule) {
  const Gpu h100 = gpu_named("h100-sxm5");
  const auto splits = [&](Library library, std::int64_t batch, std::int64_t heads,
                          std::int64_t kv_heads, std::int64_t seq_q, std::int64_t seq_kv,
                          std::int64_t head_dim) {
    Problem p = of(library, prefill(batch, heads, seq_q, head_dim, false), kToChoose);
    p[kKvHeads] = kv_heads;
    p[kSeqKv] = seq_kv;
    return library_candidates(p, h100).front()[kSplits];
  };
  EXPECT_EQ(splits(kCudnn, 3, 32, 4, 1, 4780, 128), 16);
  EXPECT_EQ(splits(kCudnn, 22, 32, 4, 1, 1984, 128), 1);
  EXPECT_EQ(splits(kCudnn, 2, 16, 4, 1, 512, 64), 1);
  EXPECT_EQ(splits(kCudnn, 1, 64, 8, 1, 38016, 96), 32);
  EXPECT_EQ(splits(kCudnn, 1, 40, 5, 48, 1111, 128), 1);
  EXPECT_EQ(splits(kFa2, 1, 32, 16, 1, 40960, 128), 14);
  EXPECT_EQ(splits(kFa2, 3, 32, 4, 1, 4780, 128), 19);
  EXPECT_EQ(splits(kFa2, 5, 32, 32, 2, 5504, 64), 3);
  EXPECT_EQ(splits(kFa2, 1, 40, 5, 48, 1111, 128), 5);
}

TEST(AttentionLibrary, BackwardTakesNoSettingsOfForward) {
  const Gpu h100 = gpu_named("h100-sxm5");
  Problem p = backward(prefill(1, 8, 1024, 128, false));
  EXPECT_THROW(forecast(of(kTrtllm, p), h100), InputError);
  EXPECT_THROW(forecast(of(kFa3, p, 2), h100), InputError);
  p[kCacheWrites] = kWritesKv;
  EXPECT_THROW(forecast(of(kFa3, p), h100), InputError);
}

TEST(AttentionLibrary, WritingACacheTakesALaunchOfItsOwn) {
  const Gpu h100 = gpu_named("h100-sxm5");
  Problem p = prefill(8, 32, 512, 128, true);
  const double without_s = time_s(of(kTrtllm, p), h100);
  p[kCacheWrites] = kWritesQkv;
  const LaunchSequence program = plan_library(of(kTrtllm, p, 1), h100);
  ASSERT_EQ(program.size(), 3U);  // where sequences begin, the cache, attention
  EXPECT_EQ(program[1].plan.arrays.front().footprint.read_bytes, 3 * 8.0 * 32 * 512 * 128 * 2);
  EXPECT_GT(time_s(of(kTrtllm, p), h100), without_s);
  // vLLM's kernel has a block for each token.
  p[kCacheWrites] = kWritesKv;
  EXPECT_EQ(plan_library(of(kFa3, p, 1), h100).front().plan.launch.blocks(), 8 * 512);
}

}  // namespace
}  // namespace roofcast::attention
