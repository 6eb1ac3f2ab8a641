#include <gtest/gtest.h>

#include <algorithm>

#include "advice/advice.hpp"
#include "tests/model/scan/questions.hpp"

namespace roofcast {
namespace {

using testing::gpu_named;

Problem asked(const KernelRef& kernel, std::initializer_list<std::int64_t> values,
              DType type = DType::fp32) {
  Problem problem;
  problem.dtype = type;
  std::copy(values.begin(), values.end(), problem.values.begin());
  check(kernel, problem, (1U << values.size()) - 1);
  return problem;
}

SettingsAdvice advise(std::string_view name, std::initializer_list<std::int64_t> values,
                      std::string_view gpu = "a100-sxm4-80gb") {
  const KernelRef kernel = find_kernel(name);
  const auto settings = settings_of(kernel);
  return advise_settings({kernel, asked(kernel, values), gpu_named(gpu)}, settings);
}

TEST(SettingSearch, TriesEveryPowerOfTwoWhereTheyAreFew) {
  const SettingsAdvice advice = advise("gemm.tiled", {1000, 1000, 1000});
  EXPECT_TRUE(advice.every_value);
  EXPECT_EQ(advice.forecasts, 1000U);  // tile_m, tile_n and tile_k from 1 to 512
  ASSERT_FALSE(advice.faster.empty());
  for (const Prediction& one : advice.faster) {
    EXPECT_LE(one.time->expected_s, advice.asked.time->expected_s * (1 - kWorthNaming));
    EXPECT_GE(one.time->expected_s, advice.best().time->expected_s);
  }
}

// No pair of settings of the found ones does better with other powers of two.
TEST(SettingSearch, SearchesByPairsWhereTheyAreMany) {
  const SettingsAdvice advice = advise("gemm.vectorized", {1000, 1000, 1000});
  EXPECT_FALSE(advice.every_value);
  const KernelRef kernel = find_kernel("gemm.vectorized");
  for (const std::size_t position : advice.settings) {
    Problem problem = advice.best().problem;
    for (std::int64_t value = 1; value <= 512; value *= 2) {
      problem[position] = value;
      try {
        const Prediction other = predict(kernel, problem, gpu_named("a100-sxm4-80gb"), {});
        EXPECT_GE(other.time->expected_s, advice.best().time->expected_s);
      } catch (const InputError&) {  // it cannot run
      }
    }
  }
}

TEST(SettingSearch, LeavesToALibraryWhatItChooses) {
  EXPECT_TRUE(settings_of(find_kernel("gemm.library")).empty());
  EXPECT_TRUE(settings_of(find_kernel("gemm")).empty());
  EXPECT_EQ(settings_of(find_kernel("gemm.tiled")).size(), 3U);
}

TEST(SettingSearch, WhatTheModelChoosesIsLeftToIt) {
  const SettingsAdvice advice = advise("softmax.cluster", {4096, 4096}, "h100-sxm5");
  EXPECT_LE(advice.forecasts, 8U);  // cluster and rows_per_cluster are chosen, stages are varied
}

TEST(ShapeAdvice, NamesAShapeThatIsLargerAndFaster) {
  const KernelRef kernel = find_kernel("transpose.padded");
  const Gpu gpu = gpu_named("h100-sxm5");
  const Prediction now = predict(kernel, asked(kernel, {4096, 4095}), gpu);
  const auto extents = extents_of(kernel);
  EXPECT_EQ(extents.size(), 2U);
  const auto shapes = advise_shapes({kernel, now.problem, gpu}, {0.05, extents}).shapes;
  ASSERT_FALSE(shapes.empty());
  EXPECT_FALSE(shapes.front().product.has_value());
  EXPECT_EQ(shapes.front().kind, AdviceKind::faster);
  EXPECT_EQ(shapes.front().prediction.problem[1], 4096);
  for (const AdvisedShape& one : shapes) {
    EXPECT_LE(one.time_change, -kWorthNaming);
    EXPECT_DOUBLE_EQ(one.prediction.time->expected_s / now.time->expected_s - 1, one.time_change);
    const bool larger = one.prediction.problem[1] >= 4095 && one.prediction.problem[0] >= 4096;
    EXPECT_EQ(one.kind == AdviceKind::faster, larger);
  }
  const auto padded = advise_shapes({kernel, now.problem, gpu}, {0.05, extents, false}).shapes;
  EXPECT_TRUE(std::all_of(padded.begin(), padded.end(),
                          [](const AdvisedShape& one) { return one.kind == AdviceKind::faster; }));
  EXPECT_TRUE(
      advise_shapes({kernel, now.problem, gpu}, {0.05, std::vector<std::size_t>{}}).shapes.empty());
}

}  // namespace
}  // namespace roofcast
