// attention.standard: what S and P in memory cost, against attention that keeps them on the chip.
#include <gtest/gtest.h>

#include "model/counting/io_complexity.hpp"
#include "model/counting/totals.hpp"
#include "model/kernels/attention/blocks.hpp"
#include "tests/model/kernels/attention/problems.hpp"

namespace roofcast::attention {
namespace {

Problem with_passes(Problem p, Passes passes) {
  p[kPasses] = passes;
  return p;
}

bool is_of_scores(ArrayId array) {
  return array == kS || array == kP || array == kDP || array == kDropped || array == kKept;
}

double score_traffic(const LaunchSequence& program) {
  double bytes = 0;
  for (const Launched& node : program) {
    for (const ArrayUse& use : node.plan.arrays) {
      if (is_of_scores(use.array)) bytes += use.footprint.total_bytes();
    }
  }
  return bytes;
}

constexpr double kN = 1000, kScoreBytes = 2 * 4 * kN * kN * 2;  // of two sequences, four heads

Problem small(bool causal) {
  return prefill(2, 4, static_cast<std::int64_t>(kN), 64, causal);
}

TEST(AttentionStandard, IoGainsNothingFromMoreMemory) {
  const IoComplexity io = standard_io(small(false), 1e6, 65536);
  EXPECT_EQ(io.formula, "Θ(Nd + N²)");
  EXPECT_EQ(io.lower_bound_bytes, 1e6 + 4 * kScoreBytes);
  EXPECT_EQ(standard_io(small(false), 1e6, 1e9).lower_bound_bytes, io.lower_bound_bytes);
}

TEST(AttentionStandard, ForwardIsThreeLaunches) {
  const LaunchSequence program = plan_standard(small(true), gpu_named("a100-sxm4-80gb"));
  ASSERT_EQ(program.size(), 3U);
  // ⌈1000 / 128⌉² tiles of S, masked ones too, two steps of 32 deep.
  EXPECT_EQ(program[0].plan.launch.blocks(), 8 * 8 * 8);
  EXPECT_EQ(issued_by_launch(program[0].plan).tensor_flops[DType::bf16],
            8 * 64 * 2.0 * 128 * 128 * 64);
  EXPECT_EQ(program[0].plan.useful.tensor_flops[DType::bf16], 8 * 2 * (1000.0 * 1001 / 2) * 64);
  // Tiles of 64 columns for the head, ⌈1000 / 32⌉ steps.
  EXPECT_EQ(program[2].plan.launch.blocks(), 8 * 8);
  EXPECT_EQ(issued_by_launch(program[2].plan).tensor_flops[DType::bf16],
            8 * 8 * 2.0 * 128 * 64 * 32 * 32);
  // S is written and read, and so is P.
  EXPECT_EQ(score_traffic(program), 4 * kScoreBytes);
  EXPECT_EQ(program[1].plan.arrays.back().array, kLse);
}

TEST(AttentionStandard, BackwardComputesScoresAgain) {
  const LaunchSequence program = plan_standard(backward(small(false)), gpu_named("a100-sxm4-80gb"));
  EXPECT_EQ(program.size(), 6U);  // S, dP, P and dS, dV, dQ, dK
  double useful = 0;
  for (const Launched& node : program) useful += node.plan.useful.tensor_flops.total();
  EXPECT_EQ(useful, 5 * 2 * 8 * kN * kN * 64);
  EXPECT_EQ(score_traffic(program), 9 * kScoreBytes);
}

// Query heads that share K and V add to the same dK and dV: one product, as deep as all their
// queries.
TEST(AttentionStandard, GroupsAreSummedAlongTheDepth) {
  Problem p = backward(small(false));
  p[kKvHeads] = 1;
  const LaunchSequence program = plan_standard(p, gpu_named("a100-sxm4-80gb"));
  const Plan& dv = program[3].plan;
  EXPECT_EQ(dv.launch.blocks(), 2 * 8);  // ⌈1000 / 128⌉ of each sequence
  EXPECT_EQ(dv.blocks.front().phases.front().repeats, 4 * 1000 / 32);  // four heads deep
  EXPECT_EQ(dv.arrays.back().footprint.write_bytes, 2 * kN * 64 * 2);
}

// The formula's bytes are the compulsory ones and the launches' traffic of scores.
TEST(AttentionStandard, IoComplexityIsTheTrafficOfThePlan) {
  const Gpu a100 = gpu_named("a100-sxm4-80gb");
  for (const Passes passes : {kPlain, kMaskDropout}) {
    for (const Problem& one : {small(false), backward(small(false))}) {
      const Problem p = with_passes(one, passes);
      const Prediction found = forecast("attention.standard", p, a100);
      EXPECT_EQ(found.io.formula, "Θ(Nd + N²)");
      EXPECT_DOUBLE_EQ(found.io.lower_bound_bytes,
                       found.work.compulsory.total_bytes() + score_traffic(plan_standard(p, a100)));
    }
  }
}

TEST(AttentionStandard, MemoryGrowsWithTheSquareAndFlashLinearly) {
  const Gpu h100 = gpu_named("h100-sxm5");
  const auto growth = [&](const char* kernel, const Problem& small, const Problem& large) {
    return *forecast(kernel, large, h100).footprint_bytes /
           *forecast(kernel, small, h100).footprint_bytes;
  };
  const Problem small = prefill(1, 16, 8192, 128, true), large = prefill(1, 16, 16384, 128, true);
  EXPECT_NEAR(growth("attention.standard", small, large), 4, 0.15);
  EXPECT_NEAR(growth("attention.standard", backward(small), backward(large)), 4, 0.15);
  EXPECT_DOUBLE_EQ(growth("attention.flash3", small, large), 2);
  EXPECT_DOUBLE_EQ(growth("attention.flash3", backward(small), backward(large)), 2);
  // S of 16 heads, then P in its place, 16384² scores of two bytes each.
  const double scores = 16.0 * 16384 * 16384 * 2, rows = 16.0 * 16384 * 4;
  EXPECT_EQ(forecast("attention.standard", large, h100).footprint_bytes,
            scores + 4 * 16.0 * 16384 * 256 + rows);
}

TEST(AttentionStandard, MovesMoreThanFlashAndIsSlower) {
  for (const char* name : {"a100-sxm4-80gb", "h100-sxm5"}) {
    const Gpu gpu = gpu_named(name);
    const Problem p = prefill(4, 16, 4096, 128, true);
    for (const Problem& one : {p, backward(p)}) {
      const Prediction standard = forecast("attention.standard", one, gpu);
      const Prediction flash = forecast("attention.flash2", one, gpu);
      EXPECT_GT(standard.work.dram.total_bytes(), 8 * flash.work.dram.total_bytes()) << name;
      EXPECT_GT(standard.time->expected_s, 2 * flash.time->expected_s) << name;
      EXPECT_LT(flash.io.lower_bound_bytes, standard.io.lower_bound_bytes) << name;
    }
  }
}

// Rows of S that no block holds in registers take two sweeps.
TEST(AttentionStandard, LongRowsAreSweptTwice) {
  const Gpu h100 = gpu_named("h100-sxm5");
  const auto asked = [&](std::int64_t keys) {
    Problem p = prefill(1, 1, 1000, 128, false);
    p[kSeqKv] = keys;
    const Plan plan = plan_standard(p, h100)[1].plan;
    return issued_by_launch(plan).requested.read_bytes / (1000.0 * static_cast<double>(keys) * 2);
  };
  EXPECT_DOUBLE_EQ(asked(32768), 1);
  EXPECT_DOUBLE_EQ(asked(32776), 2);
}

// FlashAttention (Dao et al. 2022, arXiv 2205.14135), figure 2: GPT-2 medium, sequence 1024, head
// dim 64, 16 heads, batch 64, forward and backward on an A100 of 40 GB: 40.3 GB and 41.7 ms against
// 4.4 GB and 7.3 ms.
TEST(AttentionPublished, FlashAttentionsFirstFigure) {
  const Gpu a100 = gpu_named("a100-sxm4-40gb");
  const Problem p = with_passes(prefill(64, 16, 1024, 64, false), kMaskDropout);
  struct Both {
    double bytes, seconds;
  };
  const auto both = [&](const char* kernel, const Problem& forward) {
    Both sum{};
    for (const Problem& one : {forward, backward(forward)}) {
      const Prediction found = forecast(kernel, one, a100);
      sum.bytes += found.work.dram.total_bytes();
      sum.seconds += found.time->expected_s;
    }
    return sum;
  };
  const Both standard = both("attention.standard", p);
  EXPECT_NEAR(standard.bytes / 40.3e9, 1, 0.03);
  // Published: 0.97 TB/s. The forecast's launches all run at the rate of DRAM, 1.37 TB/s, and those
  // of the frameworks of 2022 did not.
  EXPECT_GT(standard.seconds, 0.6 * 41.7e-3);
  EXPECT_LT(standard.seconds, 41.7e-3);
  // FlashAttention-2 keeps O in registers where the first version wrote and read it for each tile
  // of keys, and shares out its warps otherwise: fewer bytes and less time than published.
  const Both flash = both("attention.flash2", prefill(64, 16, 1024, 64, false));
  EXPECT_LT(flash.bytes, 4.4e9);
  EXPECT_GT(flash.bytes, 1.5e9);
  EXPECT_LT(flash.seconds, 7.3e-3);
  EXPECT_GT(flash.seconds, 0.7 * 7.3e-3);
}

}  // namespace
}  // namespace roofcast::attention
