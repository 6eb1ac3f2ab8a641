#pragma once
#include <string>

#include "model/predict.hpp"
#include "validation/runs/run.hpp"

namespace roofcast::testing {

/// A problem from its values in the order of the kernel's parameters; the rest take their defaults.
inline Problem problem_of(const std::string& kernel, std::initializer_list<std::int64_t> values,
                          DType dtype = DType::fp32) {
  Problem problem;
  problem.dtype = dtype;
  std::size_t i = 0;
  unsigned given = 0;
  for (const std::int64_t value : values) {
    given |= 1U << i;
    problem[i++] = value;
  }
  check(find_kernel(kernel), problem, given);
  return problem;
}

inline validation::Case case_of(const std::string& kernel,
                                std::initializer_list<std::int64_t> values, double seconds) {
  validation::Case item;
  item.kernel = kernel;
  item.problem = problem_of(kernel, values);
  item.timing.samples_s = {seconds};
  return item;
}

/// A run with everything filled in.
inline validation::Run sample_run() {
  validation::Run run;
  run.suite = "quick";
  run.date = "2026-01-02T03:04:05Z";
  run.build = "0.1.0 abc";
  run.device = {"h200-sxm", "NVIDIA H200", "580.1", "13.0", 700.0, 1.98e9, 3.2e9};
  validation::Case full = case_of("gemm.tiled", {512, 513, 514}, 1e-4);
  full.cache = CacheState::steady;
  full.timing.samples_s = {1e-4, 1.1e-4, 0.9e-4};
  full.timing.launches_per_sample = 20;
  full.sm_clock_hz = 1.97e9;
  double value = 1;
  for (const validation::CounterField& field : validation::counter_fields()) {
    full.counters.*field.member = value++;
  }
  full.blocks_per_sm = 2;
  full.registers = 40;
  full.shared_bytes = 8192;
  full.error = 1e-6;
  full.baseline = "gemm.library";
  full.baseline_timing.samples_s = {5e-5};
  full.prediction_json = R"({"expected_s":0.0001})";
  run.cases = {full, case_of("stream.copy", {1000}, 3e-6)};
  run.failures = {{"gemm.naive", problem_of("gemm.naive", {64, 64, 64}), "wrong \"result\""}};
  return run;
}

}  // namespace roofcast::testing
