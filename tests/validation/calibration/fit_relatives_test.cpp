#include "validation/calibration/fit_relatives.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "hw_specs/relative.hpp"
#include "validation/comparison/table.hpp"
#include "validation/runs/run_file.hpp"

namespace roofcast::validation {
namespace {

TEST(FitRelatives, LeavesOutTheGpuItselfAndItsCalibration) {
  const Gpu gpu = left_out("a100-pcie-80gb");
  EXPECT_EQ(calibration_kind(gpu.sustained), CalibrationKind::relative);
  for (const Gpu& measured : specs::measured_gpus()) {
    if (specs::measured_gpus().size() == 1) {
      EXPECT_THROW((void)left_out(measured.name), InputError);
    } else {
      EXPECT_NE(left_out(measured.name).sustained.relative, measured.name);
    }
  }
  EXPECT_THROW((void)left_out("no such GPU"), InputError);
}

// 94 of 100 rows hold exactly, the rest miss by six times the half-width of 10%.
TEST(FitRelatives, TheWideningHoldsNineteenOfTwentyRows) {
  const Gpu gpu = left_out("h100-pcie");
  std::vector<Row> rows(100);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    rows[i].time_s = {1.0, i < 94 ? 1.0 : i % 2 == 0 ? 1.6 : 1 / 1.6};
    rows[i].predicted_high_s = 1.1;
  }
  const LeftOut wide = judge(gpu, rows);
  EXPECT_NEAR(wide.widening, 6, 1e-9);
  EXPECT_TRUE(wide.same_die);
  EXPECT_EQ(wide.cases, 100U);
  for (Row& row : rows) row.time_s.measured = 1.05;  // none beyond the half-width
  EXPECT_EQ(judge(gpu, rows).widening, 1);
  EXPECT_NEAR(judge(gpu, rows).mean_absolute_error, 1 - 1 / 1.05, 1e-12);
  EXPECT_THROW((void)judge(gpu, {}), InputError);
}

TEST(FitRelatives, FindsTheLaunchCostOfATable) {
  constexpr double kTrue_s = 31e-6;
  TableOfGpu table{left_out("v100-pcie-32gb"), {}};
  const Gpu timed = with_launch_cost(table.gpu, kTrue_s);
  for (std::int64_t n = 1 << 20; n <= 1 << 26; n *= 2) {
    ReferenceRow row;
    row.fitted = true;
    row.measured.kernel = "stream.add";
    row.measured.problem.values = {n, 256, 16, 1};
    row.measured.cache = CacheState::steady;
    row.measured.timing.samples_s = {1};
    const Row known = compare_case(row.measured, timed);
    row.measured.timing.samples_s = {known.time_s.predicted};
    table.rows.push_back(row);
  }
  EXPECT_NEAR(fit_table_launch_s(std::span(&table, 1)), kTrue_s, 0.02 * kTrue_s);
}

// The shipped widening is what `fit_relatives` derives, rounded up to two decimals.
class ShippedWidening : public ::testing::Test {
 protected:
  static void expect_shipped(double shipped, double derived) {
    EXPECT_GE(shipped, derived - 1e-9) << "fit_relatives … > hw_specs/relatives.json";
    EXPECT_LE(shipped, derived + 0.01 + 1e-9) << "fit_relatives … > hw_specs/relatives.json";
  }
};

TEST_F(ShippedWidening, OfTheSameDieIsThatOfTheRuns) {
  std::map<std::string, std::vector<Row>> rows;
  for (const auto& entry : std::filesystem::directory_iterator(ROOFCAST_MEASURED_DIR)) {
    if (entry.path().string().find("-default-") == std::string::npos) continue;
    const auto run = read_run(entry.path().string());
    ASSERT_TRUE(run);
    try {
      for (Row& row : compare(*run, left_out(run->device.gpu)).rows) {
        rows[run->device.gpu].push_back(std::move(row));
      }
    } catch (const InputError&) {  // the only one measured
    }
  }
  ASSERT_FALSE(rows.empty());
  double widest = 1;
  for (const auto& [name, measured] : rows) {
    const LeftOut found = judge(left_out(name), measured);
    if (found.same_die) widest = std::max(widest, found.widening);
  }
  expect_shipped(specs::shipped_widening().same_die, widest);
}

TEST_F(ShippedWidening, OfAnotherDieIsThatOfThePublishedTable) {
  const char* folder = std::getenv("ROOFCAST_REFERENCE_DIR");
  const std::string file =
      std::string(folder != nullptr ? folder : ROOFCAST_DEFAULT_REFERENCE_DIR) +
      "/rows_and_elementwise_fp32.csv";
  std::ifstream in(file);
  if (!in) GTEST_SKIP() << "no reference tables here: set ROOFCAST_REFERENCE_DIR to read them";
  std::ostringstream text;
  text << in.rdbuf();
  std::vector<TableOfGpu> tables;
  double widest = 1;
  for (const char* name : {"a100-pcie-40gb", "a100-pcie-80gb", "v100-pcie-32gb"}) {
    tables.push_back({left_out(name), reference_rows(file, text.str(), name)});
    const auto& [gpu, rows] = tables.back();
    widest = std::max(widest, judge(gpu, held_out_rows(rows, gpu)).widening);
  }
  expect_shipped(specs::shipped_widening().other_die,
                 std::max(widest, specs::shipped_widening().same_die));
  EXPECT_NEAR(reference_launch_s() / fit_table_launch_s(tables), 1, 0.1);
}

}  // namespace
}  // namespace roofcast::validation
