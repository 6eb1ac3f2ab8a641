#pragma once
// Predicted against measured.
#include <optional>
#include <string>
#include <vector>

#include "model/types/gpu.hpp"
#include "model/types/prediction.hpp"
#include "model/types/regime.hpp"
#include "validation/runs/run.hpp"

namespace roofcast::validation {

using roofcast::name;
using roofcast::Regime;

/// A quantity forecast and measured; absent where it was not counted.
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
  double measured_fastest_s = 0;  ///< of all samples: what must not beat the limit
  double measured_low_s = 0;      ///< p10
  double measured_high_s = 0;     ///< p90
  double predicted_low_s = 0;
  double predicted_high_s = 0;
  double limit_s = 0;
  Resource bound = Resource::launch;  ///< of the forecast
  std::optional<Pair> sm_cycles;  ///< the whole time, forecast and measured, at the measured clock
  std::optional<Pair>
      active_cycles;               ///< of the kernel alone, counted: no launch cost; a cold launch
  std::optional<Pair> dram_bytes;  ///< of a cold launch, whatever `cache` says
  std::optional<Pair> l2_bytes;
  std::optional<Pair> dram_read_bytes;  ///< parts of the two above
  std::optional<Pair> dram_write_bytes;
  std::optional<Pair> l2_read_sectors;
  std::optional<Pair> l2_write_sectors;
  std::optional<Pair> l1_load_sectors;  ///< between the threads and L1
  std::optional<Pair> l1_store_sectors;
  std::optional<Pair> shared_wavefronts;  ///< of loads and stores, bank conflicts counted
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

/// Compulsory bytes of a case that has little left of its data in L2, on any GPU described here.
inline constexpr double kLargeBytes = 128e6;

struct Comparison {
  std::string gpu;
  std::string device;
  std::string date;
  std::string suite;  ///< in words; of a run's suite that was drawn, its seed too
  std::vector<Row> rows;
  Summary overall;
  std::vector<Summary> by_family;
  std::vector<Summary> by_regime;
  std::vector<Summary> by_family_and_regime;
  std::vector<Summary> by_gpu;
  /// Of the cases whose DRAM bytes were counted and whose compulsory bytes are more than
  /// kLargeBytes, far more than an L2 holds; absent where there are none.
  std::optional<Summary> large;
  std::vector<std::size_t> bound_violations;  ///< rows measured faster than their limit
  std::vector<std::size_t> worst;             ///< the ten largest absolute time errors
  std::vector<Failure> failures;              ///< of the measurement, and cases without a forecast
  /// Cases of the run's suite, or of its shard, that it has not come to: it was interrupted.
  std::size_t missing = 0;
};

/// One measured case against the forecast for this device. `launch`: how the measured kernels were
/// launched; absent: as launch_costs has it. Throws InputError where there is none.
Row compare_case(const Case& measured, const Gpu& gpu, std::optional<LaunchMode> launch = {});

/// The statistics over rows; a row keeps its place.
Comparison summarize(std::vector<Row> rows);

/// Forecasts every case of the run again with today's model and this device.
Comparison compare(const Run& run, const Gpu& gpu, std::optional<LaunchMode> launch = {});

}  // namespace roofcast::validation
