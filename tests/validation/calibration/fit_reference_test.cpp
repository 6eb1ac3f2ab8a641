#include "validation/calibration/fit_reference.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "model/predict.hpp"
#include "tests/model/devices.hpp"

namespace roofcast::validation {
namespace {

// Rows as a known device would show them, every second one to fit to.
std::vector<ReferenceRow> rows_of(const Gpu& device) {
  std::vector<ReferenceRow> rows;
  for (const std::string_view name : {"stream.add", "elementwise.relu.fused"}) {
    const KernelRef kernel = find_kernel(name);
    for (std::int64_t n = 1 << 20; n <= 1 << 29; n *= 2) {
      ReferenceRow row;
      row.group = name;
      row.fitted = rows.size() % 2 == 0;
      row.measured.kernel = name;
      row.measured.problem[0] = n;
      check(kernel, row.measured.problem, 1);
      const Prediction truth =
          predict(kernel, row.measured.problem, device, {CacheState::cold, {}});
      row.measured.timing.samples_s = {truth.time->expected_s};
      rows.push_back(row);
    }
  }
  return rows;
}

Gpu true_device() {
  Gpu gpu = testing::hopper_like();
  gpu.sustained.dram_read_bytes_per_s = 0.8 * *gpu.memory.dram_bandwidth_bytes_per_s;
  return gpu;
}

TEST(FitReference, FindsWhatIsNamedAndLeavesTheRest) {
  const auto rows = rows_of(true_device());
  Gpu gpu = true_device();
  gpu.sustained.dram_read_bytes_per_s.reset();
  const std::string_view names[] = {"dram_read_bytes_per_s", "no such value"};
  const auto moved = fit_reference(rows, names, gpu);
  ASSERT_EQ(moved.size(), 1U);
  EXPECT_EQ(moved[0].first, "dram_read_bytes_per_s");
  EXPECT_EQ(moved[0].second, gpu.sustained.dram_read_bytes_per_s);
  EXPECT_NEAR(*gpu.sustained.dram_read_bytes_per_s / *true_device().sustained.dram_read_bytes_per_s,
              1, 0.01);
  EXPECT_EQ(gpu.sustained.dram_write_bytes_per_s, true_device().sustained.dram_write_bytes_per_s);
  EXPECT_LT(*gpu.sustained.spread_memory, 0.02);
}

TEST(FitReference, RowsHeldOutHaveNoInfluence) {
  auto rows = rows_of(true_device());
  const std::string_view names[] = {"dram_read_bytes_per_s"};
  Gpu before = true_device();
  fit_reference(rows, names, before);
  for (ReferenceRow& row : rows) {
    if (!row.fitted) row.measured.timing.samples_s = {1.0};
  }
  Gpu after = true_device();
  fit_reference(rows, names, after);
  EXPECT_EQ(before.sustained.dram_read_bytes_per_s, after.sustained.dram_read_bytes_per_s);
  EXPECT_EQ(before.sustained.spread_memory, after.sustained.spread_memory);
}

TEST(FitReference, WithoutRowsToFitToIsRefused) {
  auto rows = rows_of(true_device());
  for (ReferenceRow& row : rows) row.fitted = false;
  Gpu gpu = true_device();
  EXPECT_THROW((void)fit_reference(rows, {}, gpu), InputError);
}

}  // namespace
}  // namespace roofcast::validation
