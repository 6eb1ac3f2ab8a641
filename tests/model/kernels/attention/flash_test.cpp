// attention.flash2 and attention.flash3, counted by hand.
#include "model/kernels/attention/tiles.hpp"

#include <gtest/gtest.h>

#include "model/counting/totals.hpp"
#include "model/kernels/attention/blocks.hpp"
#include "tests/model/kernels/attention/problems.hpp"

namespace roofcast::attention {
namespace {

Problem two_pass(Problem p) {
  p = backward(p);
  p[kDq] = kTwoPass;
  return p;
}

Problem ragged() {
  Problem p = prefill(2, 4, 300, 128, true);
  p[kKvHeads] = 2;
  p[kSeqKv] = 500;
  return p;
}

// Tiles of 128 queries, steps of 64 keys; the query at 0 sees 201 keys. Of 128, 128 and 44 queries
// the last sees 328, 456 and 500 keys, which is 6, 8 and 8 steps; the first sees 3, 5 and 7 whole.
TEST(AttentionFlash2, CountsARaggedCausalShape) {
  const Plan plan = plan_flash2(ragged(), gpu_named("a100-sxm4-80gb")).front().plan;
  EXPECT_EQ(plan.launch.blocks(), 3 * 8);
  EXPECT_EQ(plan.launch.threads(), 128);
  EXPECT_EQ(plan.scheduler, TileScheduler::hardware);
  ASSERT_EQ(plan.blocks.size(), 3U);
  const std::array<std::array<double, 2>, 3> steps = {{{7, 1}, {5, 3}, {3, 3}}};  // longest first
  for (std::size_t i = 0; i < steps.size(); ++i) {
    EXPECT_EQ(plan.blocks[i].count, 8);
    ASSERT_EQ(plan.blocks[i].phases.size(), 4U);
    EXPECT_EQ(plan.blocks[i].phases[1].repeats, steps[i][0]);
    EXPECT_EQ(plan.blocks[i].phases[2].repeats, steps[i][1]);
  }
  const Work issued = issued_by_launch(plan);
  EXPECT_EQ(issued.tensor_flops[DType::bf16], 8.0 * 22 * 4 * 128 * 64 * 128);
  EXPECT_EQ(issued.special_flops, 8.0 * 22 * 128 * 64);
  // Q once; 22 · 64 keys of K and of V. O and the log-sum-exp once.
  EXPECT_NEAR(issued.l2.read_bytes, 8.0 * (300 + 2 * 22 * 64) * 256, 1e-3);
  EXPECT_NEAR(issued.l2.write_bytes, 8.0 * 300 * (256 + 4), 1e-3);
  const double pairs = 300 * 201 + 300 * 299 / 2;
  EXPECT_EQ(plan.useful.tensor_flops[DType::bf16], 8 * 4 * pairs * 128);
  EXPECT_EQ(plan.useful.special_flops, 8 * pairs);
}

TEST(AttentionFlash, ReadsEachArrayOnceFromDram) {
  const double q = 8.0 * 300 * 256, kv = 4.0 * 500 * 256, lse = 8.0 * 300 * 4;
  const Prediction found = forecast("attention.flash2", ragged(), gpu_named("a100-sxm4-80gb"));
  EXPECT_EQ(found.work.dram.read_bytes, q + 2 * kv);
  EXPECT_EQ(found.work.dram_footprint.write_bytes, q + lse);
  EXPECT_EQ(found.work.compulsory.write_bytes, q + lse);
  EXPECT_EQ(found.footprint_bytes, 2 * q + 2 * kv + lse);
}

// 192 queries and steps of 128 keys at d = 64: three warpgroups multiply, one copies.
TEST(AttentionFlash3, BlocksStayAndTakeTiles) {
  const Gpu h100 = gpu_named("h100-sxm5");
  for (const bool causal : {false, true}) {
    const Plan plan = plan_flash3(prefill(4, 16, 4096, 64, causal), h100).back().plan;
    EXPECT_EQ(plan.launch.blocks(), 132);
    EXPECT_EQ(plan.launch.threads(), 512);
    EXPECT_EQ(plan.launch.registers, 128);
    EXPECT_EQ(plan.scheduler, causal ? TileScheduler::queue : TileScheduler::persistent);
    std::int64_t tiles = 0;
    for (const BlockClass& each : plan.blocks) tiles += each.count;
    EXPECT_EQ(tiles, 64 * 22);  // ⌈4096 / 192⌉
    EXPECT_EQ(plan.blocks.size() > 1, causal);
  }
  EXPECT_EQ(plan_flash3(prefill(1, 2, 500, 64, true), h100).back().plan.launch.blocks(), 6);
}

TEST(AttentionFlash, NeedsItsInstructions) {
  const Problem p = prefill(1, 16, 1024, 128, true);
  EXPECT_THROW(forecast("attention.flash3", p, gpu_named("a100-sxm4-80gb")), InputError);
  EXPECT_THROW(forecast("attention.flash2", p, gpu_named("v100-sxm2")), InputError);
  EXPECT_NO_THROW(forecast("attention.flash2", p, gpu_named("h100-sxm5")));
}

TEST(AttentionFlash, RefusesWhatTheKernelsDoNotCompute) {
  const Gpu h100 = gpu_named("h100-sxm5");
  EXPECT_THROW(forecast("attention.flash2", prefill(1, 16, 1024, 100, true), h100), InputError);
  Problem p = prefill(1, 16, 1024, 128, true);
  p[kSeqKv] = 512;  // the first 512 queries see no key
  EXPECT_THROW(forecast("attention.flash3", p, h100), InputError);
  p[kCausal] = 0;
  EXPECT_NO_THROW(forecast("attention.flash3", p, h100));
}

// 256 queries and keys, two query heads of one head of K and V: tiles of 128 by 128. Keys from 0 on
// meet both tiles of queries, one cut by the mask; keys from 128 on the second one, cut.
TEST(AttentionFlash3, CountsBackwardOfACausalShape) {
  Problem p = prefill(1, 2, 256, 64, true);
  p[kKvHeads] = 1;
  const Gpu h100 = gpu_named("h100-sxm5");
  const double tile = 128.0 * 128 * 64;
  const double scores = 2 * 256.0 * 257 / 2;
  const LaunchSequence atomic = plan_flash3(backward(p), h100);
  ASSERT_EQ(atomic.size(), 3U);
  const Plan& keys = atomic[1].plan;
  EXPECT_EQ(keys.launch.blocks(), 2);
  ASSERT_EQ(keys.blocks.size(), 2U);
  EXPECT_EQ(keys.blocks[0].phases[1].repeats, 2);  // whole, of both heads
  EXPECT_EQ(keys.blocks[0].phases[2].repeats, 2);
  EXPECT_EQ(keys.blocks[1].phases[1].repeats, 2);
  EXPECT_EQ(issued_by_launch(keys).tensor_flops[DType::bf16], 6 * 5 * 2 * tile);
  EXPECT_EQ(keys.useful.tensor_flops[DType::bf16], 5 * 2 * scores * 64);
  // K and V once; Q, dO and two numbers of each row six times. Sums of dQ six times.
  const double row = 64 * 2;
  EXPECT_EQ(issued_by_launch(keys).l2.read_bytes, 2 * 256 * row + 6 * 128 * (2 * row + 8));
  EXPECT_EQ(issued_by_launch(keys).l2.write_bytes, 2 * 256 * row + 6 * 128 * 64 * 4.0);

  const LaunchSequence exact = plan_flash3(two_pass(p), h100);
  ASSERT_EQ(exact.size(), 3U);
  // Two passes: four products in each of six steps, then three in six: seven in place of five.
  EXPECT_EQ(issued_by_launch(exact[1].plan).tensor_flops[DType::bf16], 6 * 4 * 2 * tile);
  EXPECT_EQ(issued_by_launch(exact[2].plan).tensor_flops[DType::bf16], 6 * 3 * 2 * tile);
  EXPECT_EQ(exact[1].plan.useful.tensor_flops.total() + exact[2].plan.useful.tensor_flops.total(),
            keys.useful.tensor_flops.total());
  EXPECT_EQ(issued_by_launch(exact[2].plan).l2.read_bytes,
            2 * 256 * (2 * row + 8) + 6 * 2 * 128 * row);
  EXPECT_EQ(issued_by_launch(exact[2].plan).l2.write_bytes, 2 * 256 * row);
}

// The two-pass form needs no sums of dQ in fp32.
TEST(AttentionFlash, OnlyAdditionsNeedSumsInMemory) {
  const Gpu h100 = gpu_named("h100-sxm5");
  const Problem p = prefill(2, 16, 2048, 128, true);
  const double q = 32.0 * 2048 * 256;
  for (const char* kernel : {"attention.flash2", "attention.flash3"}) {
    const Prediction atomic = forecast(kernel, backward(p), h100);
    const Prediction exact = forecast(kernel, two_pass(p), h100);
    EXPECT_EQ(*atomic.footprint_bytes - *exact.footprint_bytes, 2 * q) << kernel;
    EXPECT_EQ(atomic.work.flops(), exact.work.flops()) << kernel;
    EXPECT_GT(exact.time->expected_s, atomic.time->expected_s) << kernel;
    EXPECT_EQ(atomic.launches, 3) << kernel;
  }
}

// dO is what an earlier kernel has just computed.
TEST(AttentionFlash, TheActivationOfBackwardIsItsGradient) {
  const auto found =
      activation_of(plan_flash3(backward(prefill(1, 8, 512, 64, false)), gpu_named("h100-sxm5")));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->input, static_cast<std::size_t>(kDO));
  EXPECT_EQ(found->bytes, 8 * 512 * 64 * 2.0);
}

// As many heads run together as L2 holds K and V of; without a mask one head after the other.
TEST(AttentionFlash, HeadsGoTogetherAsTheyFitL2) {
  EXPECT_EQ(heads_together(64, 1, 2048 * 256, true), 25);  // 1 MiB of K and V each, of 25
  EXPECT_EQ(heads_together(64, 4, 2048 * 256, true), 64);
  EXPECT_EQ(heads_together(64, 4, std::int64_t{1} << 30, true), 4);
  EXPECT_EQ(heads_together(64, 1, 2048 * 256, false), 1);
  const Plan plan =
      plan_flash2(prefill(4, 16, 2048, 128, true), gpu_named("h100-sxm5")).front().plan;
  ASSERT_TRUE(plan.raster);
  EXPECT_EQ(plan.raster->group_rows, 25);
  EXPECT_EQ(plan.raster->tile_rows, 64);
}

// A head of K and V that L2 does not hold comes again for every round of tiles.
TEST(AttentionFlash, LongSequencesReadKeysAgain) {
  const Gpu h100 = gpu_named("h100-sxm5");
  const auto times = [&](std::int64_t keys) {
    const Problem p = prefill(1, 4, keys, 128, false);
    const Prediction found = forecast("attention.flash3", p, h100);
    return found.work.dram.read_bytes / found.work.dram_footprint.read_bytes;
  };
  EXPECT_EQ(times(16384), 1);
  EXPECT_GT(times(std::int64_t{1} << 19), 10);
}

// At d = 64 an exponential takes as long as the products of its score: a roof of its own.
TEST(AttentionFlash3, ExponentialsAreARoofOfTheirOwn) {
  Gpu h100 = gpu_named("h100-sxm5");
  h100.sustained.vector_flop_energy_j.reset();  // else in the fullest pipe's term
  const auto share = [&](std::int64_t head_dim) {
    const Prediction found =
        forecast("attention.flash3", prefill(1, 32, 16384, head_dim, true), h100);
    return found.time->terms[Resource::special] / found.time->terms[Resource::tensor];
  };
  EXPECT_NEAR(share(64), 1, 0.1);
  EXPECT_NEAR(share(128), 0.5, 0.08);
  EXPECT_NEAR(share(256), 0.25, 0.06);
}

}  // namespace
}  // namespace roofcast::attention
