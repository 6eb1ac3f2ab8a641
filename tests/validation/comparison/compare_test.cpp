#include "validation/comparison/compare.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>

#include "model/predict.hpp"
#include "tests/model/devices.hpp"
#include "tests/validation/sample_run.hpp"

namespace roofcast::validation {
namespace {

using RunData = Run;  // inside a test Run is a member of its base class

using testing::case_of;
using testing::hopper_like;

Row row(const std::string& family, double predicted, double measured, Regime regime) {
  Row out;
  out.gpu = "test-gpu";
  out.kernel = family + ".x";
  out.family = family;
  out.regime = regime;
  out.time_s = {predicted, measured};
  out.predicted_low_s = 0.9 * predicted;
  out.predicted_high_s = 1.1 * predicted;
  out.measured_fastest_s = measured;
  out.limit_s = 0.5 * predicted;
  return out;
}

TEST(Summarize, AgreesWithNumbersWorkedOutByHand) {
  // errors: +10%, -20%, +50%; families gemm, gemm, stream
  const Comparison c =
      summarize({row("gemm", 1.1, 1.0, Regime::compute), row("gemm", 0.8, 1.0, Regime::memory),
                 row("stream", 1.5, 1.0, Regime::memory)});
  EXPECT_EQ(c.overall.cases, 3U);
  EXPECT_NEAR(c.overall.mean_absolute_error, 0.8 / 3, 1e-12);
  EXPECT_NEAR(c.overall.median_absolute_error, 0.2, 1e-12);
  EXPECT_NEAR(c.overall.worst_error, 0.5, 1e-12);
  EXPECT_NEAR(c.overall.coverage, 1.0 / 3, 1e-12);  // 1.0 in [0.99, 1.21] only
  ASSERT_EQ(c.by_family.size(), 2U);
  EXPECT_EQ(c.by_family[0].group, "gemm");
  EXPECT_NEAR(c.by_family[0].mean_absolute_error, 0.15, 1e-12);
  EXPECT_NEAR(c.by_family[0].worst_error, -0.2, 1e-12);
  EXPECT_NEAR(c.by_family[0].coverage, 0.5, 1e-12);
  ASSERT_EQ(c.by_regime.size(), 2U);
  EXPECT_EQ(c.by_regime[1].group, "memory");
  EXPECT_NEAR(c.by_regime[1].mean_absolute_error, 0.35, 1e-12);
  ASSERT_EQ(c.by_family_and_regime.size(), 3U);
  EXPECT_EQ(c.by_family_and_regime[1].group, "gemm/memory");
  ASSERT_EQ(c.by_gpu.size(), 1U);
  EXPECT_EQ(c.by_gpu[0].group, "test-gpu");
  EXPECT_THAT(c.worst, ::testing::ElementsAre(2, 1, 0));
  EXPECT_THAT(c.bound_violations, ::testing::IsEmpty());
}

TEST(Summarize, ErrorsOfCountsAreMeansOverTheCountedRows) {
  Row a = row("gemm", 1, 1, Regime::compute);
  Row b = a;
  a.dram_bytes = Pair{110, 100};
  b.dram_bytes = Pair{70, 100};
  b.l2_bytes = Pair{50, 100};
  const Comparison c = summarize({a, b, row("gemm", 1, 1, Regime::compute)});
  EXPECT_NEAR(*c.overall.dram_error, 0.2, 1e-12);
  EXPECT_NEAR(*c.overall.l2_error, 0.5, 1e-12);
  EXPECT_FALSE(c.overall.cycles_error.has_value());
}

// Counters exist of two of three cases of 129 MB, 10% and 30% off; 128 MB and less are left out.
TEST(Summarize, DramBytesOfLargeCasesStandApart) {
  std::vector<Row> rows(5, row("stream", 1.2, 1, Regime::memory));
  for (Row& one : rows) one.compulsory_bytes = 129e6;
  rows[0].dram_bytes = Pair{110, 100};
  rows[1].dram_bytes = Pair{70, 100};
  rows[2].compulsory_bytes = 128e6;
  rows[2].dram_bytes = Pair{500, 100};
  rows[3].compulsory_bytes = 1e3;
  rows[3].dram_bytes = Pair{500, 100};
  const Comparison c = summarize(rows);
  ASSERT_TRUE(c.large.has_value());
  EXPECT_EQ(c.large->group, "over 128 MB");
  EXPECT_EQ(c.large->cases, 2U);
  EXPECT_NEAR(*c.large->dram_error, 0.2, 1e-12);
  EXPECT_NEAR(c.large->mean_absolute_error, 0.2, 1e-12);
  EXPECT_FALSE(summarize({rows[2], rows[3], rows[4]}).large.has_value());
}

TEST(Summarize, AnySampleFasterThanTheLimitIsAViolation) {
  Row slow = row("gemm", 1, 1, Regime::compute);
  Row fast = slow;
  fast.measured_fastest_s = 0.49;
  const Comparison c = summarize({slow, fast});
  EXPECT_THAT(c.bound_violations, ::testing::ElementsAre(1));
}

TEST(Summarize, KeepsTheTenWorst) {
  std::vector<Row> rows;
  for (int i = 0; i < 25; ++i) rows.push_back(row("gemm", 1 + 0.01 * i, 1, Regime::compute));
  const Comparison c = summarize(rows);
  ASSERT_EQ(c.worst.size(), 10U);
  EXPECT_EQ(c.worst.front(), 24U);
  EXPECT_EQ(c.worst.back(), 15U);
}

TEST(Summarize, OfNothingIsNothing) {
  const Comparison c = summarize({});
  EXPECT_EQ(c.overall.cases, 0U);
  EXPECT_TRUE(c.by_family.empty());
}

TEST(Summarize, MedianLiesBetweenTheErrorsAndCoverageIsAShare) {
  EXPECT_TRUE(rc::check([](const std::vector<unsigned char>& errors) {
    std::vector<Row> rows;
    for (const unsigned char error : errors) {
      rows.push_back(row("gemm", 1 + error / 100.0, 1, Regime::compute));
    }
    const Comparison c = summarize(rows);
    RC_ASSERT(c.overall.coverage >= 0 && c.overall.coverage <= 1);
    RC_ASSERT(c.overall.median_absolute_error <= c.overall.worst_error + 1e-12);
    RC_ASSERT(c.overall.mean_absolute_error <= c.overall.worst_error + 1e-12);
  }));
}

TEST(CompareCase, RegimeFollowsTimeThenTheForecastsBound) {
  const Gpu gpu = hopper_like();
  EXPECT_EQ(compare_case(case_of("stream.copy", {1024}, 3e-6), gpu).regime, Regime::launch_bound);
  EXPECT_EQ(compare_case(case_of("stream.copy", {1 << 28}, 5e-4), gpu).regime, Regime::memory);
  EXPECT_EQ(compare_case(case_of("gemm.vectorized", {4096, 4096, 4096}, 4e-3), gpu).regime,
            Regime::compute);
  EXPECT_EQ(name(Regime::launch_bound), "launch-bound");
}

TEST(CompareCase, TakesForecastLimitAndIntervalFromTheModel) {
  const Gpu gpu = hopper_like();
  Case item = case_of("gemm.tiled", {1024, 1024, 1024}, 1);
  item.timing.samples_s = {3e-4, 1e-4, 2e-4};
  const Prediction p = predict(find_kernel(item.kernel), item.problem, gpu);
  const Row r = compare_case(item, gpu);
  EXPECT_DOUBLE_EQ(r.time_s.predicted, p.time->expected_s);
  EXPECT_DOUBLE_EQ(r.time_s.measured, 2e-4);
  EXPECT_DOUBLE_EQ(r.measured_fastest_s, 1e-4);
  EXPECT_DOUBLE_EQ(r.limit_s, p.limit.time_s);
  EXPECT_DOUBLE_EQ(r.predicted_low_s, p.time->low_s);
  EXPECT_EQ(r.family, "gemm");
  EXPECT_DOUBLE_EQ(r.compulsory_bytes, 3 * 4.0 * 1024 * 1024);
  EXPECT_EQ(r.problem_text, "m=1024 n=1024 k=1024 fp32");
  EXPECT_FALSE(r.dram_bytes.has_value());
  EXPECT_FALSE(r.baseline_s.has_value());
}

TEST(CompareCase, CountsAreHeldAgainstAColdLaunch) {
  const Gpu gpu = hopper_like();
  Case item = case_of("stream.copy", {1 << 20}, 5e-6);
  item.cache = CacheState::steady;
  item.counters.dram_read_bytes = 3e6;
  item.counters.dram_write_bytes = 1e6;
  item.counters.flops = 0.0;
  item.blocks_per_sm = 8;
  const Row r = compare_case(item, gpu);
  const Prediction cold = predict(find_kernel(item.kernel), item.problem, gpu);
  EXPECT_DOUBLE_EQ(r.dram_bytes->predicted, cold.work.dram.total_bytes());
  EXPECT_DOUBLE_EQ(r.dram_bytes->measured, 4e6);
  EXPECT_FALSE(r.flops.has_value());  // none counted: no ratio
  EXPECT_FALSE(r.l2_bytes.has_value());
  EXPECT_DOUBLE_EQ(r.blocks_per_sm->measured, 8);
}

TEST(CompareCase, CyclesUseTheMeasuredClockOnBothSides) {
  const Gpu gpu = hopper_like();
  Case item = case_of("gemm.vectorized", {4096, 4096, 4096}, 4e-3);
  item.sm_clock_hz = 1e9;
  const Row r = compare_case(item, gpu);
  EXPECT_DOUBLE_EQ(r.sm_cycles->measured, 4e-3 * 1e9);
  const Prediction p =
      predict(find_kernel(item.kernel), item.problem, gpu, {CacheState::cold, 1e9});
  EXPECT_DOUBLE_EQ(r.sm_cycles->predicted, p.time->expected_s * 1e9);
}

TEST(Compare, KeepsFailuresAndAddsCasesWithoutAForecast) {
  RunData run = testing::sample_run();
  Gpu gpu = hopper_like();
  const Comparison whole = compare(run, gpu);
  EXPECT_EQ(whole.rows.size(), 2U);
  EXPECT_EQ(whole.failures.size(), 1U);
  EXPECT_EQ(whole.gpu, "test-gpu");
  EXPECT_EQ(whole.device, "NVIDIA H200");
  EXPECT_EQ(whole.date, run.date);
  gpu.occupancy.reset();  // a device without warps has limits but no forecast
  const Comparison none = compare(run, gpu);
  EXPECT_TRUE(none.rows.empty());
  EXPECT_EQ(none.failures.size(), 3U);
  EXPECT_THAT(none.failures.back().reason, ::testing::HasSubstr("no forecast"));
}

TEST(Compare, APerfectMeasurementHasNoError) {
  const Gpu gpu = hopper_like();
  RunData run = testing::sample_run();
  for (Case& item : run.cases) {
    const Prediction p =
        predict(find_kernel(item.kernel), item.problem, gpu, {item.cache, std::nullopt});
    item.timing.samples_s = {p.time->expected_s};
  }
  const Comparison c = compare(run, gpu);
  EXPECT_DOUBLE_EQ(c.overall.mean_absolute_error, 0);
  EXPECT_DOUBLE_EQ(c.overall.coverage, 1);
  EXPECT_TRUE(c.bound_violations.empty());
}

}  // namespace
}  // namespace roofcast::validation
