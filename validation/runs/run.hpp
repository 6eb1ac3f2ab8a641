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

/// Time over repetitions: seconds. The samples are kept, the statistics derived from them.
struct Timing {
  std::vector<double> samples_s;
  std::int64_t launches_per_sample = 1;  ///< of a graph; a sample is its time ÷ launches
  double median_s() const;
  double percentile_s(
      double fraction) const;  ///< 0.1 → p10, linear between neighbours; 0 → fastest
};

/// What the hardware counted in passes of their own, over one cold launch (also where the timing is
/// steady); absent where counters were refused.
struct Counters {
  std::optional<double> dram_read_bytes;
  std::optional<double> dram_write_bytes;
  std::optional<double> l2_read_bytes;  ///< what the SMs received from L2
  std::optional<double> l2_write_bytes;
  /// What L2 looked up for it: less where the request coalescer answers several SMs at once.
  std::optional<double> l2_lookup_read_bytes;
  std::optional<double> l2_lookup_write_bytes;
  std::optional<double> sm_cycles;  ///< with a warp resident, the busiest SM
  std::optional<double> flops;  ///< from the executed FADD, FMUL, FFMA (fp16/bf16/fp64 twins too)
  std::optional<double> warps_active;  ///< mean warps resident on an SM while active
  std::optional<double> instructions;  ///< warp instructions executed
  std::optional<double> l1_wavefronts;
  std::optional<double> shared_wavefronts;
  std::optional<double> shared_load_wavefronts;   ///< of load instructions, conflicts counted
  std::optional<double> shared_store_wavefronts;  ///< of store instructions
  std::optional<double> shared_bank_conflicts;    ///< wavefronts beyond those without conflicts
  std::optional<double> l1_load_sectors;          ///< of 32 B, asked of L1 by global loads
  std::optional<double> l1_store_sectors;
  std::optional<double> time_s;  ///< in the counting pass, the profiler's own cost included
};

/// A counter's key in the run file and its place.
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
  std::optional<double>
      sm_clock_hz;  ///< while timed: SM cycles ÷ nanosecond timer around the samples
  Counters counters;
  std::optional<std::int64_t> blocks_per_sm;  ///< cudaOccupancyMaxActiveBlocksPerMultiprocessor
  std::optional<std::int64_t> registers;      ///< cudaFuncGetAttributes
  std::optional<std::int64_t> shared_bytes;   ///< static + dynamic
  double error = 0;  ///< largest of the outputs, each relative to its own largest value (float64)
  std::string baseline;  ///< the library kernel interleaved with it, or empty
  Timing baseline_timing;
  std::string prediction_json;             ///< the forecast when the case ran, for the record
  std::optional<std::int64_t> position{};  ///< in the suite, from 0; runs before shards lack it
};

/// A case that gave no measurement and why (wrong output, refused launch): never silently dropped.
struct Failure {
  std::string kernel;
  Problem problem;
  std::string reason;
  std::optional<std::int64_t> position{};  ///< in the suite
};

struct Run {
  std::string suite;
  std::optional<std::int64_t> seed;         ///< that the suite was drawn with
  std::optional<std::int64_t> suite_cases;  ///< of the whole suite, all shards together
  Shard shard;                              ///< whole where none is recorded
  std::string date;                         ///< ISO 8601, UTC, of the first case
  std::string build;                        ///< version and git revision
  DeviceRecord device;
  std::vector<Case> cases;
  std::vector<Failure> failures;
};

using roofcast::name;

/// The harness gives each launch back to back data of its own.
inline constexpr std::array kMeasuredCacheStates = {CacheState::cold, CacheState::warm,
                                                    CacheState::steady};
/// One of those by its name, as in run files.
std::optional<CacheState> parse_cache_state(std::string_view text);
/// What it takes: "\"cold\", \"warm\" or \"steady\"".
std::string cache_state_names();

/// How many cases of its suite, or of its shard of it, the run holds neither as measured nor as
/// failed. 0 where it does not say how many there are (runs before shards).
std::size_t missing_cases(const Run& run);

/// What the run measured, in words: "default", or "random, seed 7".
std::string suite_text(const Run& run);

/// JSON text ↔ Run. parse throws InputError naming the file, the pointer and the mend.
std::string to_json(const Run& run);
Run parse_run(const std::string& file, const std::string& text);

}  // namespace roofcast::validation
