#include "model/kernels/recompute/recompute.hpp"

#include <gtest/gtest.h>

#include "model/predict.hpp"
#include "tests/model/devices.hpp"
#include "tests/model/plans.hpp"

namespace roofcast {
namespace {

constexpr std::int64_t kN = 1 << 20;

LaunchSequence plans(const char* name, std::int64_t chain, DType type = DType::fp32) {
  const Problem problem{.dtype = type, .values = {kN, chain, 256, 16, 1}};
  return find_kernel(name).kernel->plan(problem, testing::hopper_like());
}

double accesses(const LaunchSequence& plans) {
  double bytes = 0;
  for (const auto& [plan, repeats] : plans) bytes += total_work(plan).requested.total_bytes();
  return bytes / (4.0 * kN);
}

double special(const LaunchSequence& plans) {
  double count = 0;
  for (const auto& [plan, repeats] : plans) count += total_work(plan).special_flops;
  return count / kN;
}

// Three links: 4 reads and 4 writes stored; 3 reads and 2 writes recomputed.
TEST(Recompute, ThreeLinksEightAccessesOrFive) {
  const LaunchSequence stored = plans("recompute.stored", 3);
  ASSERT_EQ(stored.size(), 2U);
  EXPECT_EQ(total_work(stored[0].plan).requested.read_bytes +
                total_work(stored[1].plan).requested.read_bytes,
            4 * 4.0 * kN);
  EXPECT_EQ(accesses(stored), 8);
  const LaunchSequence recomputed = plans("recompute.recomputed", 3);
  EXPECT_EQ(total_work(recomputed[0].plan).requested.read_bytes +
                total_work(recomputed[1].plan).requested.read_bytes,
            3 * 4.0 * kN);
  EXPECT_EQ(accesses(recomputed), 5);
}

TEST(Recompute, GeneralChain) {
  EXPECT_EQ(accesses(plans("recompute.stored", 1)), 5);
  EXPECT_EQ(accesses(plans("recompute.recomputed", 1)), 5);
  for (std::int64_t chain = 2; chain <= recompute::kMaxChain; ++chain) {
    const auto links = static_cast<double>(chain);
    EXPECT_EQ(accesses(plans("recompute.stored", chain)), 2 * links + 2);
    EXPECT_EQ(accesses(plans("recompute.recomputed", chain)), 5);
    EXPECT_EQ(special(plans("recompute.stored", chain)), 2 * (links + 1));
    EXPECT_EQ(special(plans("recompute.recomputed", chain)), 4 * links);
  }
}

// Small arrays: what the forward pass wrote is still in L2, only dy comes from DRAM.
TEST(Recompute, TheBackwardPassFindsItInL2) {
  const Gpu gpu = testing::hopper_like();
  const KernelRef found = find_kernel("recompute.stored");
  const Problem problem{.dtype = DType::fp32, .values = {kN, 3, 256, 16, 1}};
  const Prediction answer = predict(found, problem, gpu, {.cache = CacheState::steady});
  EXPECT_EQ(answer.work.dram.read_bytes, 2 * 4.0 * kN);
  EXPECT_EQ(answer.work.dram.write_bytes, 4 * 4.0 * kN);
}

// Long chains of 16-bit elements fill the special-function unit.
TEST(Recompute, TheSpecialFunctionUnitBecomesTheRoof) {
  const Gpu gpu = testing::hopper_like();
  const KernelRef found = find_kernel("recompute.recomputed");
  const Problem problem{.dtype = DType::bf16, .values = {1 << 27, 8, 256, 16, 1}};
  const Prediction answer = predict(found, problem, gpu);
  EXPECT_EQ(binding(answer.limit.terms), Resource::special);
  const double results = 4.0 * 8 * (1 << 27);
  EXPECT_NEAR(answer.limit.time_s, results / (16 * 132 * 2e9), 1e-9);
}

// A block of 256 threads of 4 fp32 elements: 43 instructions a warp and 25 a link, counted in the
// machine code.
TEST(Recompute, InstructionsOfTheForwardPass) {
  const Plan forward = plans("recompute.recomputed", 3).front().plan;
  EXPECT_EQ(testing::first_step(forward).warp_instructions, 8 * (43 + 3 * 25));
  EXPECT_EQ(testing::first_step(forward).issued.special_flops, 256 * 4 * 3 * 2);
  EXPECT_EQ(forward.launch.blocks(), kN / 1024);
  EXPECT_EQ(total_work(forward).conversions, 0);
  EXPECT_EQ(total_work(plans("recompute.stored", 3, DType::bf16).front().plan).conversions,
            3 * kN / 2);
}

TEST(Recompute, WhatIsNotCompiledIsRefused) {
  const Problem problem{.dtype = DType::bf16, .values = {kN, 3, 256, 16, 4}};
  EXPECT_THROW(find_kernel("recompute.stored").kernel->plan(problem, testing::hopper_like()),
               InputError);
}

}  // namespace
}  // namespace roofcast
