// Convolutions, epilogues, caches, quantization, routing, gradients and updates as PyTorch launches
// them, measured on an H100 by validation/torch_layers.py. Nothing was fitted to any time; profiles
// gave registers and launches, and some counts were chosen with all rows in view.
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "tests/model/scan/questions.hpp"
#include "tests/validation/comparison/measured_rows.hpp"

namespace roofcast::validation {
namespace {

constexpr const char* kTable = "h100-sxm5-operations-2026-11-25.csv";

// Products were timed as single calls with L2 full of other data, the rest back to back.
bool is_cold(const NamedRow& row) {
  return row["kernel"] == "convolution.library" || row["kernel"] == "gemm.library";
}

Prediction forecast(const NamedRow& row) {
  const KernelRef kernel = find_kernel(row["kernel"]);
  Assumptions assumptions;
  assumptions.cache = is_cold(row) ? CacheState::cold : CacheState::steady;
  return predict(kernel, problem_of(kernel, row), testing::gpu_named("h100-sxm5"), assumptions);
}

/// Accuracy of a kernel's rows at even and at odd position among them.
struct Both {
  Accuracy even, odd;
  int rows = 0;
};

std::map<std::string, Both> accuracies() {
  std::map<std::string, Both> found;
  for (const NamedRow& row : measured_rows(kTable)) {
    const Prediction answer = forecast(row);
    const double measured_s = row.real(is_cold(row) ? "cold_us" : "steady_us") * 1e-6;
    Both& both = found[row["kernel"] + " " + row["form"] + " " + row["how"].substr(0, 10)];
    (both.rows++ % 2 == 0 ? both.even : both.odd)
        .add(answer.time->expected_s, answer.time->low_s, answer.time->high_s, measured_s);
  }
  return found;
}

// "topk alone" is left out: the forecast includes a softmax, which it does not run.
TEST(MeasuredOperations, NoneIsFasterThanItsLimit) {
  for (const NamedRow& row : measured_rows(kTable)) {
    if (row["how"] == "topk alone") continue;
    const double measured_s = row.real("cold_us") * 1e-6;
    EXPECT_GE(measured_s * 1.001, forecast(row).limit.time_s)
        << row["kernel"] << ' ' << row["how"] << ' ' << row.position;
  }
}

TEST(MeasuredOperations, ByTime) {
  const auto found = accuracies();
  for (const auto& [name, both] : found) {
    both.even.print(name + ", even");
    if (both.odd.rows() > 0) both.odd.print(name + ", odd");
  }
  const std::map<std::string, double> ceilings = {
      {"convolution.library  cudnn", 0.18},          {"layer.norm_backward  layer_norm", 0.14},
      {"layer.norm_backward  rms_norm", 0.12},       {"layer.embedding fused torch", 0.20},
      {"layer.cache_append eager index_copy", 0.22}, {"layer.top_k eager torch", 0.225},
      {"layer.quantize_rows fused compiled", 0.12},  {"gemm.library  cublaslt", 0.13},
  };
  for (const auto& [name, ceiling] : ceilings) {
    ASSERT_TRUE(found.contains(name)) << name;
    EXPECT_GE(found.at(name).odd.rows(), 2) << name;
    EXPECT_LE(found.at(name).odd.error(), ceiling) << name;
  }
}

}  // namespace
}  // namespace roofcast::validation
