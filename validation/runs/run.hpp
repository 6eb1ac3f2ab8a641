#pragma once
// A validation run: what was measured, on what, when. The run file is its JSON.
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/types/prediction.hpp"
#include "model/types/problem.hpp"
#include "validation/runs/shard.hpp"

namespace roofcast::validation {

struct DeviceRecord {
  std::string gpu;     ///< the specification's name: "h200-sxm"
  std::string device;  ///< as the driver names it: "NVIDIA H200"
  std::string driver;
  std::string cuda_runtime;
  std::optional<double> power_limit_w;
  std::optional<double> max_sm_clock_hz;
  std::optional<double> memory_clock_hz;
};

/// Times of repeated samples (s); statistics are derived from them.
struct Timing {
  std::vector<double> samples_s;
  std::int64_t launches_per_sample = 1;  ///< of a graph; a sample is the graph's time ÷ launches
  double median_s() const;
  double percentile_s(double fraction) const;  ///< 0.1: p10, by linear interpolation; 0: fastest
};

/// Hardware counters of one cold launch, in passes separate from the timing, whatever its cache
/// state; absent if counters were not available.
struct Counters {
  std::optional<double> dram_read_bytes;
  std::optional<double> dram_write_bytes;
  std::optional<double> l2_read_bytes;  ///< received by the SMs from L2
  std::optional<double> l2_write_bytes;
  /// Bytes that L2 looked up: fewer, if the request coalescer answers several SMs at once.
  std::optional<double> l2_lookup_read_bytes;
  std::optional<double> l2_lookup_write_bytes;
  std::optional<double> sm_cycles;  ///< with a resident warp, on the SM that has most
  std::optional<double> flops;      ///< by executed FADD, FMUL, FFMA (and fp16, bf16, fp64 forms)
  std::optional<double> warps_active;  ///< mean warps resident on an SM while active
  std::optional<double> instructions;  ///< warp instructions executed
  std::optional<double> l1_wavefronts;
  std::optional<double> shared_wavefronts;
  std::optional<double> shared_load_wavefronts;   ///< of loads, with bank conflicts
  std::optional<double> shared_store_wavefronts;  ///< of stores, with bank conflicts
  std::optional<double> shared_bank_conflicts;    ///< additional wavefronts due to conflicts
  std::optional<double> l1_load_sectors;          ///< of 32 B, requested from L1 by global loads
  std::optional<double> l1_store_sectors;
  std::optional<double> time_s;  ///< of the counting pass, with the profiler's overhead
};

/// A counter's key in the run file and its member.
struct CounterField {
  std::string_view name;
  std::optional<double> Counters::*member;
};
std::span<const CounterField> counter_fields();

struct Case {
  std::string kernel;
  Problem problem;
  CacheState cache = CacheState::cold;
  Timing timing;
  std::optional<double> sm_clock_hz;  ///< mean over the samples (ClockProbe)
  Counters counters;
  std::optional<std::int64_t> blocks_per_sm;  ///< cudaOccupancyMaxActiveBlocksPerMultiprocessor
  std::optional<std::int64_t> registers;      ///< cudaFuncGetAttributes
  std::optional<std::int64_t> shared_bytes;   ///< static + dynamic
  double error = 0;      ///< largest of the outputs (max_error in kernels/common/data.hpp)
  std::string baseline;  ///< library kernel timed alternately; may be empty
  Timing baseline_timing;
  std::string prediction_json;             ///< the forecast at the time of measurement
  std::optional<std::int64_t> position{};  ///< in the suite, from 0; absent in older runs
};

/// A case without a measurement and why (wrong output, refused launch).
struct Failure {
  std::string kernel;
  Problem problem;
  std::string reason;
  std::optional<std::int64_t> position{};  ///< in the suite
};

struct Run {
  std::string suite;
  std::optional<std::int64_t> seed;         ///< of a suite drawn at random
  std::optional<std::int64_t> suite_cases;  ///< of the whole suite, over all shards
  Shard shard;                              ///< whole if none is recorded
  std::string date;                         ///< ISO 8601, UTC: when the run began
  std::string build;                        ///< version and git revision
  DeviceRecord device;
  std::vector<Case> cases;
  std::vector<Failure> failures;
};

using roofcast::name;

/// CacheState::repeated is missing: consecutive launches of the harness use different data.
inline constexpr std::array kMeasuredCacheStates = {CacheState::cold, CacheState::warm,
                                                    CacheState::steady};
/// A measured cache state by its name in run files.
std::optional<CacheState> parse_cache_state(std::string_view text);
/// The names that parse_cache_state accepts: "\"cold\", \"warm\" or \"steady\"".
std::string cache_state_names();

/// Number of cases of the suite, or of the run's shard, that were neither measured nor failed. 0 if
/// suite_cases is absent (older runs).
std::size_t missing_cases(const Run& run);

/// The suite as text: "default", or "random, seed 7".
std::string suite_text(const Run& run);

/// JSON text ↔ Run. parse_run throws InputError naming the file, the pointer and the mend.
std::string to_json(const Run& run);
Run parse_run(const std::string& file, const std::string& text);

}  // namespace roofcast::validation
