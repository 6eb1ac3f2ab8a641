// The forecasts of GPUs that this project cannot run on against published measurements: the rows
// that no constant was fitted to. The table is not part of the project (../shared/reference).
#include "validation/comparison/reference.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdio>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "hw_specs/loader.hpp"
#include "model/predict.hpp"
#include "tests/model/scan/questions.hpp"
#include "tests/validation/comparison/reference_tables.hpp"
#include "validation/comparison/compare.hpp"
#include "validation/comparison/table.hpp"

namespace roofcast::validation {
namespace {

constexpr const char* kFile = "rows_and_elementwise_fp32.csv";
constexpr std::array kGpus = {"a100-pcie-40gb", "a100-pcie-80gb", "v100-pcie-32gb"};

class Reference : public ::testing::Test {
 protected:
  void SetUp() override {
    text_ = reference_text(kFile);
    if (text_.empty()) {
      GTEST_SKIP() << "no reference tables here: set ROOFCAST_REFERENCE_DIR to read them";
    }
    std::istringstream in(text_);
    for (std::string line; std::getline(in, line);) lines_.push_back(line);
  }

  std::vector<ReferenceRow> rows(const char* gpu) const {
    return reference_rows(kFile, text_, gpu);
  }
  /// Blocks and threads of a row with the header gpu,dtype,op,rows,cols,grid,block,time_us.
  std::vector<std::int64_t> launched(const ReferenceRow& row) const {
    std::istringstream in(lines_.at(row.line - 1));
    std::vector<std::int64_t> counts;
    std::string field;
    for (int column = 0; std::getline(in, field, ','); ++column) {
      if (column != 5 && column != 6) continue;
      std::istringstream extents(field);
      std::int64_t& count = counts.emplace_back(1);
      for (std::string extent; std::getline(extents, extent, 'x');) count *= std::stoll(extent);
    }
    return counts;
  }

 private:
  std::string text_;
  std::vector<std::string> lines_;
};

struct Errors {
  double sum = 0;
  double worst = 0;
  double inside = 0;
  double count = 0;

  double mean() const { return sum / count; }
};

/// Errors by group, also printed, with the table's launch cost.
std::map<std::string_view, Errors> errors_of(const std::vector<ReferenceRow>& rows,
                                             const Gpu& gpu) {
  const Gpu timed = with_launch_cost(gpu, reference_launch_s());
  std::map<std::string_view, Errors> found;
  for (const ReferenceRow& row : rows) {
    const Row compared = compare_case(row.measured, timed);
    EXPECT_GE(compared.time_s.measured, compared.limit_s)
        << gpu.name << ' ' << compared.kernel << ' ' << compared.problem_text;
    Errors& errors = found[row.group];
    const double error = std::abs(compared.time_s.error());
    errors.sum += error;
    errors.worst = std::max(errors.worst, error);
    errors.inside += compared.time_s.measured >= compared.predicted_low_s &&
                             compared.time_s.measured <= compared.predicted_high_s
                         ? 1
                         : 0;
    ++errors.count;
  }
  EXPECT_EQ(found.size(), 3U) << gpu.name;
  for (const auto& [group, errors] : found) {
    std::printf(
        "%-15s %-12s %3.0f rows: mean error %4.1f%%, worst %4.1f%%, %3.0f%% in the interval\n",
        gpu.name.c_str(), std::string(group).c_str(), errors.count, 100 * errors.mean(),
        100 * errors.worst, 100 * errors.inside / errors.count);
  }
  return found;
}

TEST_F(Reference, HeldOutRowsAreForecastWithinTheTolerances) {
  const std::map<std::string_view, double> most = {
      {"elementwise", 0.10}, {"softmax", 0.15}, {"layernorm", 0.15}};
  for (const char* name : kGpus) {
    std::vector<ReferenceRow> held_out = rows(name);
    std::erase_if(held_out, [](const ReferenceRow& row) { return row.fitted; });
    for (const auto& [group, errors] : errors_of(held_out, testing::gpu_named(name))) {
      EXPECT_LE(errors.mean(), most.at(group)) << name << ' ' << group;
    }
  }
}

// From the constants of the nearest GPU that this project measured and its own datasheet alone.
TEST_F(Reference, AllRowsAreForecastFromARelative) {
  const std::map<std::string_view, double> most = {
      {"elementwise", 0.03}, {"softmax", 0.14}, {"layernorm", 0.12}};
  constexpr double kInside = 0.8;
  for (const char* name : kGpus) {
    const specs::Embedded* spec = specs::find_embedded(name);
    const Gpu gpu = specs::load({.file = std::string(name) + ".json",
                                 .text = std::string(spec->text),
                                 .overlay_file = "",
                                 .overlay_text = "",
                                 .overrides = {}});
    ASSERT_EQ(calibration_kind(gpu.sustained), CalibrationKind::relative);
    double inside = 0, count = 0;
    for (const auto& [group, errors] : errors_of(rows(name), gpu)) {
      EXPECT_LE(errors.mean(), most.at(group)) << name << ' ' << group;
      inside += errors.inside;
      count += errors.count;
    }
    EXPECT_GE(inside / count, kInside) << name;
  }
}

TEST_F(Reference, PlansLaunchWhatTheFrameworkLaunched) {
  for (const char* name : kGpus) {
    const Gpu& gpu = testing::gpu_named(name);
    for (const ReferenceRow& row : rows(name)) {
      const Problem& problem = row.measured.problem;
      // The framework splits tensors beyond 2 GiB into several launches.
      if (row.group == "elementwise" && problem[0] > (std::int64_t{1} << 29)) continue;
      const KernelRef kernel = find_kernel(row.measured.kernel);
      const Launch launch = kernel.kernel->plan(problem, gpu).front().plan.launch;
      const std::vector<std::int64_t> planned = {launch.blocks(), launch.threads()};
      EXPECT_EQ(planned, launched(row)) << row.measured.kernel << ", line " << row.line;
    }
  }
}

TEST_F(Reference, HalfOfTheRowsAreHeldOut) {
  for (const char* name : kGpus) {
    int fitted = 0;
    int held_out = 0;
    for (const ReferenceRow& row : rows(name)) ++(row.fitted ? fitted : held_out);
    EXPECT_GE(fitted, held_out);
    EXPECT_LE(fitted - held_out, static_cast<int>(reference_operations().size())) << name;
  }
}

TEST(PublishedCalibration, ForecastsSaySo) {
  for (const char* name : kGpus) {
    const Gpu& gpu = testing::gpu_named(name);
    EXPECT_TRUE(gpu.sustained.published) << name;
    const KernelRef kernel = find_kernel("softmax.library");
    const Prediction answer = predict(kernel, {.values = {8192, 4096}}, gpu);
    ASSERT_FALSE(answer.notes.empty());
    EXPECT_NE(answer.notes.front().find("published measurements"), std::string::npos);
  }
  EXPECT_FALSE(testing::gpu_named("h200-sxm").sustained.published);
}

}  // namespace
}  // namespace roofcast::validation
