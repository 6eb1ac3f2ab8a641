// attention.decode, counted by hand.
#include <gtest/gtest.h>

#include "model/counting/totals.hpp"
#include "model/kernels/attention/blocks.hpp"
#include "tests/model/kernels/attention/problems.hpp"

namespace roofcast::attention {
namespace {

Problem split(Problem p, std::int64_t parts) {
  p[kDecodeSplits] = parts;
  return p;
}

// 4 sequences, 64 heads on 8 of K and V, 1000 keys: 63 units of 16 in two parts of 32 and 31.
TEST(AttentionDecode, ReadsKeysOnceForAllHeadsOfAGroup) {
  const LaunchSequence program =
      plan_decode(split(decode(4, 64, 8, 1000), 2), gpu_named("h100-sxm5"));
  ASSERT_EQ(program.size(), 2U);
  const Plan& plan = program.front().plan;
  EXPECT_EQ(plan.launch.blocks(), 4 * 8 * 2);
  ASSERT_EQ(plan.blocks.size(), 2U);
  EXPECT_EQ(plan.blocks[0].count, 32);
  EXPECT_EQ(plan.blocks[1].count, 32);
  const Work issued = issued_by_launch(plan);
  // 8 queries of a group fill half of the 16 rows of a product.
  EXPECT_NEAR(issued.tensor_flops[DType::bf16], 32.0 * 63 * 4 * 16 * 16 * 128, 1);
  EXPECT_NEAR(issued.l2.read_bytes, 32.0 * (2 * 1000 * 256 + 2 * 8 * 256), 1e-3);
  // Sums and log-sum-exp of each part in fp32, and both of all parts in the end.
  const double parts = 2.0 * 4 * 64 * (128 + 1) * 4;
  EXPECT_NEAR(issued.l2.write_bytes, parts, 1e-6 * parts);
  EXPECT_EQ(program[1].plan.arrays.front().footprint.read_bytes, parts);
  EXPECT_NEAR(issued_by_launch(program[1].plan).l2.write_bytes, 4.0 * 64 * (256 + 4), 1e-6);
}

// 256 rows, a block each. On an A100 the sum starts when the products have ended.
TEST(AttentionDecode, TheSumWaitsOnTheSmsWhereTheDeviceAllows) {
  const Problem two = split(decode(4, 64, 8, 1000), 2);
  const Plan on_h100 = plan_decode(two, gpu_named("h100-sxm5"))[1].plan;
  EXPECT_EQ(on_h100.launch.blocks(), 256);
  EXPECT_EQ(on_h100.launch.threads(), 256);
  EXPECT_EQ(on_h100.start, Start::programmatic);
  EXPECT_EQ(plan_decode(two, gpu_named("a100-sxm4-80gb"))[1].plan.start, Start::at_once);
}

TEST(AttentionDecode, OnePartNeedsNoSum) {
  const LaunchSequence program =
      plan_decode(split(decode(4, 64, 8, 1000), 1), gpu_named("h100-sxm5"));
  ASSERT_EQ(program.size(), 1U);
  EXPECT_NEAR(issued_by_launch(program.front().plan).l2.write_bytes, 4.0 * 64 * (256 + 4), 1e-6);
}

TEST(AttentionDecode, SplitsWhereHeadsLeaveSmsEmpty) {
  const Gpu h100 = gpu_named("h100-sxm5");
  const Prediction lone = forecast("attention.decode", decode(1, 8, 1, 65536), h100);
  EXPECT_GE(lone.problem[kDecodeSplits], 64);
  EXPECT_EQ(lone.launches, 2);
  EXPECT_LT(
      lone.time->expected_s,
      forecast("attention.decode", split(decode(1, 8, 1, 65536), 1), h100).time->expected_s / 10);
  EXPECT_EQ(forecast("attention.decode", decode(512, 32, 8, 4096), h100).problem[kDecodeSplits], 1);
}

// A cache of 1 GiB: near the rate at which DRAM is read.
TEST(AttentionDecode, RunsAtTheRateOfDram) {
  const Gpu h100 = gpu_named("h100-sxm5");
  const Prediction found = forecast("attention.decode", decode(32, 64, 8, 8192), h100);
  EXPECT_EQ(binding(found.time->terms), Resource::dram);
  EXPECT_GT(found.limit.time_s / found.time->expected_s, 0.75);
}

TEST(AttentionDecode, TakesFewQueriesForwardOnly) {
  const Gpu h100 = gpu_named("h100-sxm5");
  EXPECT_THROW(forecast("attention.decode", prefill(1, 8, 17, 128, false), h100), InputError);
  EXPECT_THROW(forecast("attention.decode", backward(decode(1, 8, 1, 4096)), h100), InputError);
  EXPECT_THROW(forecast("attention.decode", split(decode(1, 8, 1, 640), 41), h100), InputError);
  EXPECT_NO_THROW(forecast("attention.decode", split(decode(1, 8, 1, 640), 40), h100));
}

}  // namespace
}  // namespace roofcast::attention
