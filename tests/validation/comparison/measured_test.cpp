// The model against the runs that are committed: what the project says it reaches, it still
// reaches.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "hw_specs/loader.hpp"
#include "validation/comparison/compare.hpp"
#include "validation/runs/run_file.hpp"

namespace roofcast::validation {
namespace {

Gpu shipped(const std::string& gpu) {
  return specs::load(specs::shipped_source(gpu));
}

// Runs measured/GPU-default-DATE.json. Constants were fitted to some of their cases: the
// calibrations in hw_specs/ name those runs, docs/studies.md the seeds kept back from every fit.
// The runs are large: all tests of this file run in one process (CMakeLists.txt), which reads them
// once.
const std::vector<Comparison>& validation_runs() {
  static const std::vector<Comparison> runs = [] {
    std::vector<Comparison> read;
    for (const auto& entry : std::filesystem::directory_iterator(ROOFCAST_MEASURED_DIR)) {
      const std::string path = entry.path().string();
      if (path.find("-default-") == std::string::npos) continue;
      const auto run = read_run(path);
      read.push_back(compare(*run, shipped(run->device.gpu)));
    }
    return read;
  }();
  return runs;
}

double mean_absolute(const Comparison& comparison, const std::string& family, double above_bytes,
                     double (*error)(const Row&)) {
  double sum = 0;
  int count = 0;
  for (const Row& row : comparison.rows) {
    if (row.family != family || row.work_dram_bytes < above_bytes) continue;
    sum += std::abs(error(row));
    ++count;
  }
  EXPECT_GT(count, 0) << family;
  return sum / count;
}

double time_error(const Row& row) {
  return row.time_s.error();
}
double dram_error(const Row& row) {
  return row.dram_bytes ? row.dram_bytes->error() : 0;
}
double l2_error(const Row& row) {
  return row.l2_bytes ? row.l2_bytes->error() : 0;
}

constexpr double kMiB = 1024.0 * 1024;

TEST(MeasuredRuns, AreThereAndWhole) {
  const std::vector<Comparison>& runs = validation_runs();
  ASSERT_FALSE(runs.empty());
  for (const Comparison& run : runs) {
    EXPECT_GE(run.rows.size(), 900U);
    EXPECT_TRUE(run.failures.empty());
  }
}

TEST(MeasuredRuns, NothingBeatsItsLimit) {
  for (const Comparison& run : validation_runs()) EXPECT_TRUE(run.bound_violations.empty());
}

TEST(MeasuredRuns, StreamingTimeAndBytes) {
  for (const Comparison& run : validation_runs()) {
    for (const char* family : {"stream", "elementwise"}) {
      EXPECT_LT(mean_absolute(run, family, 0, time_error), 0.05) << family;
      EXPECT_LT(mean_absolute(run, family, 64 * kMiB, time_error), 0.045) << family;
      EXPECT_LT(mean_absolute(run, family, 128 * kMiB, dram_error), 0.02) << family;
    }
  }
}

TEST(MeasuredRuns, ProductTimeAndBytes) {
  for (const Comparison& run : validation_runs()) {
    EXPECT_LT(mean_absolute(run, "gemm", 0, time_error), 0.10);
    EXPECT_LT(mean_absolute(run, "gemm", 0, dram_error), 0.11);
    EXPECT_LT(mean_absolute(run, "gemm", 0, l2_error), 0.10);
  }
}

// Rows from 20 µs on; below that the launch cost is most of the time.
TEST(MeasuredRuns, TimeOfEveryFamily) {
  const std::map<std::string, double> most = {
      {"stream", 0.05}, {"elementwise", 0.05}, {"divergence", 0.05}, {"recompute", 0.055},
      {"access", 0.06}, {"transpose", 0.09},   {"softmax", 0.12},    {"norm", 0.12},
      {"reduce", 0.09}, {"gemm", 0.08}};
  for (const Comparison& run : validation_runs()) {
    // A device without a calibration has its relative's.
    const double wider = specs::find_embedded(run.gpu)->overlay_text.empty() ? 1.25 : 1;
    std::map<std::string, std::vector<double>> errors;
    for (const Row& row : run.rows) {
      if (row.time_s.measured < kLaunchBoundBelow_s) continue;
      errors[row.family].push_back(std::abs(row.time_s.error()));
    }
    for (const auto& [family, limit] : most) {
      ASSERT_FALSE(errors[family].empty()) << family;
      double sum = 0;
      for (const double error : errors[family]) sum += error;
      EXPECT_LT(sum / static_cast<double>(errors[family].size()), wider * limit) << family;
    }
  }
}

// Sectors and wavefronts are counted from the pattern alone, so exact; but with random indices the
// count is an expectation, and what L1 keeps from one block for the next is not in the pattern.
TEST(MeasuredRuns, SectorsAndWavefrontsOfAccessPatterns) {
  constexpr double kRandom = 1e-4;
  constexpr double kBetweenBlocks = 0.02;
  constexpr double kRounding = 1e-12;  // a count is the sum of steps, each a share of the launch
  for (const Comparison& run : validation_runs()) {
    int patterns = 0;
    int from_l2_exactly = 0;
    for (const Row& row : run.rows) {
      if (row.family != "access" && row.family != "transpose") continue;
      SCOPED_TRACE(row.kernel + " " + row.problem_text);
      ASSERT_TRUE(row.l1_load_sectors && row.l1_store_sectors && row.l2_read_sectors);
      ++patterns;
      const bool random = row.kernel == "access.gather";
      EXPECT_NEAR(row.l1_load_sectors->error(), 0, random ? kRandom : kRounding);
      EXPECT_NEAR(row.l1_store_sectors->predicted, row.l1_store_sectors->measured,
                  kRounding * row.l1_store_sectors->measured);
      if (row.shared_wavefronts) {
        EXPECT_NEAR(row.shared_wavefronts->predicted, row.shared_wavefronts->measured,
                    kRounding * row.shared_wavefronts->measured);
      }
      if (!random) {
        EXPECT_NEAR(row.l2_read_sectors->error(), 0, kBetweenBlocks);
        EXPECT_NEAR(row.l2_write_sectors->error(), 0, kBetweenBlocks);
      }
      from_l2_exactly += std::abs(row.l2_read_sectors->error()) <= kRounding;
    }
    EXPECT_GE(patterns, 300);
    EXPECT_GE(from_l2_exactly, 200);
  }
}

TEST(MeasuredRuns, FlopsOfProducts) {
  int counted = 0;
  for (const Comparison& run : validation_runs()) {
    for (const Row& row : run.rows) {
      if (row.family != "gemm" || !row.flops) continue;
      // A tile that reaches over the edge multiplies zeros there: counted, but not asked for.
      const bool whole =
          row.problem[0] % row.problem[3] == 0 && row.problem[1] % row.problem[4] == 0;
      if (!whole || row.problem[2] % 64 != 0) continue;
      // The compiler loads constants with HFMA2, which the counter takes for two FLOP: in these
      // kernels at most one a thread, and no more threads than elements of C.
      const double constants = 2.0 * static_cast<double>(row.problem[0] * row.problem[1]);
      EXPECT_GE(row.flops->measured, row.flops->predicted) << row.kernel << " " << row.problem_text;
      EXPECT_LE(row.flops->measured, row.flops->predicted + constants)
          << row.kernel << " " << row.problem_text;
      ++counted;
    }
  }
  EXPECT_GT(counted, 30);
}

// The kernels of stream were compiled anew after these runs where a thread has several loads.
bool is_compiled_since(const Row& row) {
  constexpr std::size_t kLoads = 3;
  return row.family == "stream" && row.problem[kLoads] > 1;
}

TEST(MeasuredRuns, OccupancyIsExact) {
  for (const Comparison& run : validation_runs()) {
    std::size_t compared = 0;
    for (const Row& row : run.rows) {
      if (!row.blocks_per_sm || is_compiled_since(row)) continue;
      ++compared;
      EXPECT_EQ(row.blocks_per_sm->predicted, row.blocks_per_sm->measured)
          << row.kernel << " " << row.problem_text;
    }
    EXPECT_GE(10 * compared, 9 * run.rows.size()) << "few rows say how many blocks fit";
  }
}

TEST(MeasuredRuns, IntervalsCover) {
  for (const Comparison& run : validation_runs()) EXPECT_GT(run.overall.coverage, 0.9);
}

// The kernel variants with their default tiles at one size, fastest first.
std::vector<std::string> order(const std::vector<const Row*>& rungs, double Pair::*time) {
  std::vector<const Row*> sorted = rungs;
  std::sort(sorted.begin(), sorted.end(),
            [time](const Row* a, const Row* b) { return a->time_s.*time < b->time_s.*time; });
  std::vector<std::string> names;
  for (const Row* rung : sorted) names.push_back(rung->kernel);
  return names;
}

TEST(MeasuredRuns, TheLaddersOrder) {
  for (const Comparison& run : validation_runs()) {
    std::map<std::int64_t, std::vector<const Row*>> by_size;
    for (const Row& row : run.rows) {
      const bool square = row.problem[0] == row.problem[1] && row.problem[0] == row.problem[2];
      const bool power = (row.problem[0] & (row.problem[0] - 1)) == 0;
      auto& rungs = by_size[row.problem[0]];
      const bool first = std::none_of(rungs.begin(), rungs.end(), [&row](const Row* other) {
        return other->kernel == row.kernel;  // the default tile comes first in the suite
      });
      if (row.family == "gemm" && square && power && first) rungs.push_back(&row);
    }
    int compared = 0;
    for (const auto& [size, rungs] : by_size) {
      if (rungs.size() < 6) continue;
      ++compared;
      EXPECT_EQ(order(rungs, &Pair::predicted), order(rungs, &Pair::measured)) << size;
    }
    EXPECT_GE(compared, 6) << "sizes with a whole ladder";
  }
}

}  // namespace
}  // namespace roofcast::validation
