#include "validation/calibration/fit.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "model/predict.hpp"
#include "tests/model/devices.hpp"

namespace roofcast::validation {
namespace {

Gpu true_device() {
  Gpu gpu = testing::hopper_like();
  gpu.sustained.dram_read_bytes_per_s = 4.0e12;
  gpu.sustained.dram_write_bytes_per_s = 3.5e12;
  gpu.sustained.stream_launch_s = 4e-6;
  return gpu;
}

// A run whose measurements are what a known device would show.
Run synthetic_run(const Gpu& device) {
  Run run;
  run.date = "2026-11-21T00:00:00Z";
  run.device.device = "made up";
  Case null;
  null.kernel = "stream.null";
  check(find_kernel(null.kernel), null.problem, 0);
  null.timing.samples_s = {*device.sustained.stream_launch_s};
  run.cases.push_back(null);
  for (const std::string_view name : {"stream.copy", "stream.add", "elementwise.relu.fused"}) {
    const KernelRef kernel = find_kernel(name);
    for (std::int64_t n = 1 << 18; n <= 1 << 29; n *= 2) {
      Case one;
      one.kernel = name;
      one.problem[0] = n;
      check(kernel, one.problem, 1);
      const Prediction truth = predict(kernel, one.problem, device);
      one.timing.samples_s = {truth.time->expected_s};
      one.counters.dram_read_bytes = truth.work.dram.read_bytes;
      one.counters.dram_write_bytes = truth.work.dram.write_bytes;
      run.cases.push_back(one);
    }
  }
  return run;
}

TEST(Fit, FindsTheConstantsOfAKnownDevice) {
  const auto run = synthetic_run(true_device());
  const Fit found =
      fit(run, testing::hopper_like(), {{"dram_read_bytes_per_s", "dram_write_bytes_per_s"}, {}});
  EXPECT_EQ(found.cases, (run.cases.size() + 1) / 2);
  EXPECT_LT(found.mean_absolute_error, 0.01);
  EXPECT_NEAR(*found.sustained.dram_read_bytes_per_s, 4.0e12, 0.05e12);
  EXPECT_NEAR(*found.sustained.dram_write_bytes_per_s, 3.5e12, 0.05e12);
  EXPECT_EQ(*found.sustained.stream_launch_s, 4e-6);
}

TEST(Fit, CasesOfOddIndexHaveNoInfluence) {
  auto run = synthetic_run(true_device());
  const Fit before = fit(run, testing::hopper_like(), {{"dram_read_bytes_per_s"}, {}});
  for (std::size_t i = 1; i < run.cases.size(); i += 2) run.cases[i].timing.samples_s = {1.0};
  const Fit after = fit(run, testing::hopper_like(), {{"dram_read_bytes_per_s"}, {}});
  EXPECT_EQ(*before.sustained.dram_read_bytes_per_s, *after.sustained.dram_read_bytes_per_s);
}

TEST(Fit, SpreadCoversTheCasesItWasMadeFrom) {
  auto run = synthetic_run(true_device());
  for (std::size_t i = 0; i < run.cases.size(); ++i) {
    run.cases[i].timing.samples_s[0] *= i % 4 == 0 ? 1.1 : 1 / 1.1;
  }
  Gpu gpu = true_device();
  fit_spreads(run, gpu);
  EXPECT_NEAR(*gpu.sustained.spread_memory, 0.1, 0.02);
}

TEST(Fit, OverlayNamesValueAndRun) {
  const auto run = synthetic_run(true_device());
  const auto overlay = nlohmann::json::parse(
      to_json(fitted_overlay(run, "run.json", true_device(), Overlay{}, FitScope{})));
  EXPECT_EQ(overlay["gpu"], "test-gpu");
  EXPECT_EQ(overlay["provenance"]["run"], "run.json");
  EXPECT_EQ(overlay["sustained"]["dram_read_bytes_per_s"]["value"], 4.0e12);
  EXPECT_EQ(overlay["sustained"]["dram_read_bytes_per_s"]["source"], "FIT");
  EXPECT_FALSE(overlay["sustained"].contains("barrier_cycles"));
}

TEST(Fit, WhatIsFixedDoesNotMoveAndKeepsItsSource) {
  const auto run = synthetic_run(true_device());
  Overlay base;
  base.sources = {{"MB:bandwidth", "microbenchmark", "2026-11-21"}};
  base.values = {{"dram_read_bytes_per_s", 4.2e12, "MB:bandwidth", "kept"},
                 {"stream_launch_s", 5e-6, "MB:bandwidth", ""}};
  Gpu start = testing::hopper_like();
  start.sustained.dram_read_bytes_per_s = 4.2e12;
  start.sustained.stream_launch_s = 5e-6;
  const FitScope scope{{}, {"dram_read_bytes_per_s", "stream_launch_s"}};
  Gpu fitted = start;
  fitted.sustained = fit(run, start, scope).sustained;
  EXPECT_EQ(fitted.sustained.dram_read_bytes_per_s, 4.2e12);
  EXPECT_EQ(fitted.sustained.stream_launch_s, 5e-6);
  const Overlay out = fitted_overlay(run, "run.json", fitted, base, scope);
  EXPECT_EQ(out.find("dram_read_bytes_per_s")->source, "MB:bandwidth");
  EXPECT_EQ(out.find("dram_read_bytes_per_s")->note, "kept");
  EXPECT_EQ(out.find("dram_write_bytes_per_s")->source, "FIT");

  // Named, it moves: the run tells 4.0e12.
  const FitScope named{{"dram_read_bytes_per_s"}, scope.fixed};
  EXPECT_NEAR(*fit(run, start, named).sustained.dram_read_bytes_per_s, 4.0e12, 0.2e12);
}

TEST(Fit, WhatIsHeldStaysAtItsValueAndSaysSo) {
  const auto run = synthetic_run(true_device());
  FitScope scope{{"dram_read_bytes_per_s", "dram_write_bytes_per_s"}, {}, {}};
  scope.held = {{"dram_write_bytes_per_s", 3.0e12}};
  Gpu fitted = testing::hopper_like();
  fitted.sustained = fit(run, fitted, scope).sustained;
  EXPECT_EQ(fitted.sustained.dram_write_bytes_per_s, 3.0e12);
  EXPECT_NE(fitted.sustained.dram_read_bytes_per_s,
            testing::hopper_like().sustained.dram_read_bytes_per_s);
  Overlay base;
  base.sources = {{"MB:bandwidth", "microbenchmark", "2026-11-21"}};
  base.values = {{"dram_write_bytes_per_s", 4.2e12, "MB:bandwidth", ""}};
  const Overlay out = fitted_overlay(run, "run.json", fitted, base, scope);
  EXPECT_EQ(out.find("dram_write_bytes_per_s")->value, 3.0e12);
  EXPECT_EQ(out.find("dram_write_bytes_per_s")->source, "HELD");
  EXPECT_EQ(std::count_if(out.values.begin(), out.values.end(),
                          [](const auto& one) { return one.key == "dram_write_bytes_per_s"; }),
            1);

  scope.held = {{"dram_wirte_bytes_per_s", 1}};
  EXPECT_THROW((void)fit(run, testing::hopper_like(), scope), InputError);
  EXPECT_THROW((void)fit(run, testing::hopper_like(), {{"dram_wirte_bytes_per_s"}, {}}),
               InputError);
}

}  // namespace
}  // namespace roofcast::validation
