#pragma once
// Compares forecasts with measurements.
#include <optional>
#include <string>
#include <vector>

#include "model/types/gpu.hpp"
#include "model/types/prediction.hpp"
#include "validation/runs/run.hpp"

namespace roofcast::validation {

using roofcast::name;
using roofcast::Regime;

/// Forecast and measurement of one quantity.
struct Pair {
  double predicted = 0;
  double measured = 0;
  double error() const { return predicted / measured - 1; }  ///< relative, signed
};

struct Row {
  std::string gpu;  ///< the specification's name
  std::string kernel;
  std::string family;
  Problem problem;
  std::string problem_text;  ///< "m=4096 n=4096 k=4096 fp32"
  CacheState cache;
  Regime regime;
  Pair time_s;
  double measured_fastest_s = 0;  ///< fastest sample, which must not be below limit_s
  double measured_low_s = 0;      ///< p10
  double measured_high_s = 0;     ///< p90
  double predicted_low_s = 0;
  double predicted_high_s = 0;
  double limit_s = 0;
  Resource bound = Resource::launch;  ///< resource that binds the forecast
  std::optional<Pair> sm_cycles;      ///< time × measured clock, of a forecast at this clock
  std::optional<Pair> active_cycles;  ///< cycles of a cold launch, counted; without launch cost
  std::optional<Pair> dram_bytes;     ///< of a cold launch, whatever `cache` says
  std::optional<Pair> l2_bytes;
  std::optional<Pair> dram_read_bytes;  ///< parts of the two above
  std::optional<Pair> dram_write_bytes;
  std::optional<Pair> l2_read_sectors;
  std::optional<Pair> l2_write_sectors;
  std::optional<Pair> l1_load_sectors;  ///< between threads and L1
  std::optional<Pair> l1_store_sectors;
  std::optional<Pair> shared_wavefronts;  ///< of loads and stores, with bank conflicts
  std::optional<Pair> flops;              ///< on the SIMT pipes
  std::optional<Pair> blocks_per_sm;
  double work_flops = 0;       ///< predicted
  double work_dram_bytes = 0;  ///< predicted
  double compulsory_bytes = 0;
  std::optional<double> baseline_s;
  std::string baseline;
};

struct Summary {
  std::string group;  ///< "gemm", "memory", "gemm/memory", "h200-sxm" or "all"
  std::size_t cases = 0;
  double mean_absolute_error = 0;  ///< of time, relative
  double median_absolute_error = 0;
  double worst_error = 0;            ///< signed
  double coverage = 0;               ///< share of measured medians inside [low, high]
  std::optional<double> dram_error;  ///< mean absolute, of DRAM bytes
  std::optional<double> l2_error;
  std::optional<double> cycles_error;
};

/// Compulsory bytes above which L2 holds little of a case's data, on any GPU described here.
inline constexpr double kLargeBytes = 128e6;

struct Comparison {
  std::string gpu;
  std::string device;
  std::string date;
  std::string suite;  ///< in words, with the seed of a suite drawn at random
  std::vector<Row> rows;
  Summary overall;
  std::vector<Summary> by_family;
  std::vector<Summary> by_regime;
  std::vector<Summary> by_family_and_regime;
  std::vector<Summary> by_gpu;
  /// Over the cases with counted DRAM bytes and more than kLargeBytes compulsory bytes; absent if
  /// there are none.
  std::optional<Summary> large;
  std::vector<std::size_t> bound_violations;  ///< indices of rows measured faster than their limit
  std::vector<std::size_t> worst;             ///< indices of the ten largest absolute time errors
  std::vector<Failure> failures;              ///< failed measurements, and cases without a forecast
  /// Cases of the suite, or of the run's shard, that an interrupted run has not measured yet.
  std::size_t missing = 0;
};

/// Compares a measured case with its forecast on `gpu`. `launch`: how the kernels were launched;
/// absent: as launch_costs chooses. Throws InputError if there is no forecast.
Row compare_case(const Case& measured, const Gpu& gpu, std::optional<LaunchMode> launch = {});

/// Statistics over the rows, which keep their order.
Comparison summarize(std::vector<Row> rows);

/// Forecasts every case of the run with the present model and `gpu`, and compares.
Comparison compare(const Run& run, const Gpu& gpu, std::optional<LaunchMode> launch = {});

}  // namespace roofcast::validation
