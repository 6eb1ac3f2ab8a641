// Which experts are chosen, and what their grouped products do, counted by hand.
#include "model/libraries/experts.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "model/roofcast.hpp"
#include "tests/model/devices.hpp"
#include "tests/model/plans.hpp"

namespace roofcast {
namespace {

using testing::hopper_like;

std::int64_t sum_of(const std::vector<std::int64_t>& rows) {
  return std::accumulate(rows.begin(), rows.end(), std::int64_t{0});
}

Problem routed(std::int64_t tokens, std::int64_t experts, std::int64_t per_token, std::int64_t gpus,
               experts::Routing routing = experts::kBalanced) {
  return {.dtype = DType::bf16, .values = {tokens, 4096, 14336, experts, per_token, gpus, routing}};
}

TEST(ExpertsRouting, BalancedExpertsHaveTheSameRows) {
  EXPECT_EQ(experts::rows_of_experts(routed(128, 8, 2, 1)), std::vector<std::int64_t>(8, 32));
  // One token: two experts.
  EXPECT_EQ(experts::rows_of_experts(routed(1, 8, 2, 1)), std::vector<std::int64_t>(2, 1));
  // Each of four GPUs has two experts.
  EXPECT_EQ(experts::rows_of_experts(routed(128, 8, 2, 4)), std::vector<std::int64_t>(2, 32));
}

TEST(ExpertsRouting, APowerLawKeepsTheSumAndIsSkewed) {
  const auto rows = experts::rows_of_experts(routed(1000, 64, 8, 1, experts::kPowerLaw120));
  EXPECT_EQ(sum_of(rows), 8000);
  const auto most = *std::max_element(rows.begin(), rows.end());
  EXPECT_GT(most, 3 * 8000 / 64);
  EXPECT_LE(most, 1000);
  const auto busiest = experts::rows_of_experts(routed(1000, 64, 8, 8, experts::kPowerLaw120));
  EXPECT_LE(busiest.size(), 8U);
  EXPECT_GT(sum_of(busiest), 1000);  // more than the mean
  EXPECT_LT(sum_of(busiest), 8000);
}

LaunchSequence planned(const Problem& problem, const Gpu& gpu) {
  return experts::kFamily.variants.front().plan(problem, gpu);
}

Problem mixtral(std::int64_t tokens) {
  return {.dtype = DType::bf16, .values = {tokens, 4096, 14336, 8, 2, 1, 0, 64, 128}};
}

TEST(ExpertsLibrary, ExpertsNotChosenAreNotRead) {
  const double expert = 3.0 * 4096 * 14336 * 2;
  const auto read = [](std::int64_t tokens) {
    double bytes = 0;
    for (const Launched& node : planned(mixtral(tokens), hopper_like())) {
      bytes += total_work(node.plan).compulsory.read_bytes;
    }
    return bytes;
  };
  EXPECT_DOUBLE_EQ(read(1), 2 * expert + 4096 * 2);
  EXPECT_DOUBLE_EQ(read(512), 8 * expert + 512 * 4096 * 2);
}

// 128 rows of each of 8 experts are 2 tiles each; 130 rows are 3, the last almost empty.
TEST(ExpertsLibrary, TilesEndWithTheirExpert) {
  const auto blocks = [](std::int64_t tokens) {
    const LaunchSequence launches = planned(mixtral(tokens), hopper_like());
    const auto gate_and_up = std::max_element(
        launches.begin(), launches.end(), [](const Launched& a, const Launched& b) {
          return a.plan.useful.tensor_flops[DType::bf16] < b.plan.useful.tensor_flops[DType::bf16];
        });
    return gate_and_up->plan.launch.blocks();
  };
  constexpr std::int64_t kColumns = 2 * 14336 / 128;
  EXPECT_EQ(blocks(512), 8 * 2 * kColumns);
  EXPECT_EQ(blocks(520), 8 * 3 * kColumns);
}

TEST(ExpertsLibrary, Fp8NarrowsItsInputInALaunchOfItsOwn) {
  Problem problem = mixtral(64);
  const std::size_t launches = planned(problem, hopper_like()).size();
  problem.dtype = DType::fp8;
  EXPECT_EQ(planned(problem, hopper_like()).size(), launches + 1);
}

TEST(ExpertsLibrary, RefusalsNameTheParameter) {
  const auto refusal = [](Problem problem) {
    try {
      (void)planned(problem, hopper_like());
    } catch (const InputError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  Problem problem = mixtral(64);
  EXPECT_EQ(refusal(problem), "");
  problem[experts::kGpus] = 3;
  EXPECT_NE(refusal(problem).find("'ep' 3 does not divide"), std::string::npos);
  problem[experts::kGpus] = 1;
  problem[experts::kPerToken] = 9;
  EXPECT_NE(refusal(problem).find("'per_token'"), std::string::npos);
}

}  // namespace
}  // namespace roofcast
