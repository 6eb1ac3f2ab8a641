#include "validation/runs/run.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace roofcast::validation {

double Timing::median_s() const {
  return percentile_s(0.5);
}

double Timing::percentile_s(double fraction) const {
  if (samples_s.empty()) return std::numeric_limits<double>::quiet_NaN();
  std::vector<double> sorted = samples_s;
  std::sort(sorted.begin(), sorted.end());
  const double position = fraction * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(position);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return std::lerp(sorted[below], sorted[above], position - static_cast<double>(below));
}

std::span<const CounterField> counter_fields() {
  static constexpr std::array<CounterField, 18> fields = {{
      {"dram_read_bytes", &Counters::dram_read_bytes},
      {"dram_write_bytes", &Counters::dram_write_bytes},
      {"l2_read_bytes", &Counters::l2_read_bytes},
      {"l2_write_bytes", &Counters::l2_write_bytes},
      {"l2_lookup_read_bytes", &Counters::l2_lookup_read_bytes},
      {"l2_lookup_write_bytes", &Counters::l2_lookup_write_bytes},
      {"sm_cycles", &Counters::sm_cycles},
      {"flops", &Counters::flops},
      {"warps_active_per_sm", &Counters::warps_active},
      {"warp_instructions", &Counters::instructions},
      {"l1_wavefronts", &Counters::l1_wavefronts},
      {"shared_wavefronts", &Counters::shared_wavefronts},
      {"shared_load_wavefronts", &Counters::shared_load_wavefronts},
      {"shared_store_wavefronts", &Counters::shared_store_wavefronts},
      {"shared_bank_conflicts", &Counters::shared_bank_conflicts},
      {"l1_load_sectors", &Counters::l1_load_sectors},
      {"l1_store_sectors", &Counters::l1_store_sectors},
      {"time_s", &Counters::time_s},
  }};
  return fields;
}

std::optional<CacheState> parse_cache_state(std::string_view text) {
  for (const CacheState cache : kMeasuredCacheStates) {
    if (text == name(cache)) return cache;
  }
  return std::nullopt;
}

std::string cache_state_names() {
  std::string names;
  for (const CacheState cache : kMeasuredCacheStates) {
    if (!names.empty()) names += cache == kMeasuredCacheStates.back() ? " or " : ", ";
    names += '"';
    names.append(name(cache)) += '"';
  }
  return names;
}

std::size_t missing_cases(const Run& run) {
  if (!run.suite_cases) return 0;
  const auto whole = static_cast<std::size_t>(*run.suite_cases);
  const Shard& shard = run.shard;
  const std::size_t wanted =
      whole > shard.index ? (whole - shard.index + shard.count - 1) / shard.count : 0;
  const std::size_t held = run.cases.size() + run.failures.size();
  return wanted > held ? wanted - held : 0;
}

std::string suite_text(const Run& run) {
  return run.seed ? run.suite + ", seed " + std::to_string(*run.seed) : run.suite;
}

}  // namespace roofcast::validation
