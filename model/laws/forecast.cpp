#include "model/laws/forecast.hpp"

#include <algorithm>

#include "model/counting/coalescing.hpp"
#include "model/laws/dram_time.hpp"
#include "model/laws/l2_reuse.hpp"
#include "model/laws/overlap.hpp"
#include "model/laws/sm_time.hpp"

namespace roofcast {
namespace {

constexpr std::size_t index(Resource resource) {
  return static_cast<std::size_t>(resource);
}

// Sectors written in part and whole ones share the slices of L2.
double l2_time_s(const Plan& plan, const Gpu& gpu) {
  const auto bandwidth = gpu.sustained.l2_bandwidth_bytes_per_s;
  const auto partial_writes = gpu.sustained.l2_partial_writes_per_s;
  const double partial_bytes = plan.scatter.partial_write_sectors * kSectorBytes;
  double time_s = bandwidth ? plan.total.l2.total_bytes() / *bandwidth : 0;
  if (bandwidth && partial_writes) {
    time_s += plan.scatter.partial_write_sectors / *partial_writes - partial_bytes / *bandwidth;
  }
  return time_s;
}

// Waiting for L1 misses together keeps blocks in step unless it is a small part of their time:
// between 5% and 30% by the naive and the coalesced gemm of the run of 2026-11-21.
constexpr double kTooLittleWaiting = 0.1;
// Waiting for whole tiles keeps blocks in step if it is most of it: coarsened_1d, not tiled.
constexpr double kMostlyWaiting = 0.5;

// The data pipe of an SM serves the oldest block first, the schedulers serve all in turn.
March march_of(const Plan& plan, const Occupancy& occupancy, const Gpu& gpu) {
  if (!plan.raster) return March::in_step;
  const SmTime sm = sm_time(plan, occupancy, 0, gpu);
  const bool apart = (sm.fullest == Resource::shared && sm.waiting_share < kMostlyWaiting) ||
                     (sm.fullest == Resource::l1 && sm.waiting_share < kTooLittleWaiting);
  return apart ? March::apart : March::in_step;
}

// Without a calibration an expected time is no better than this.
constexpr double kUncalibratedSpread = 0.5;

}  // namespace

Traffic launch_traffic(const Plan& plan, const Occupancy& occupancy, const Gpu& gpu) {
  const std::int64_t resident = occupancy.blocks_per_sm * gpu.sm_count.value_or(1);
  return dram_traffic(plan, resident, march_of(plan, occupancy, gpu), gpu);
}

LaunchTime launch_time(const Plan& plan, const Occupancy& occupancy, const Traffic& dram,
                       double clock_hz, const Gpu& gpu) {
  const double l2_reads = plan.total.l2.read_bytes;
  const double dram_share = l2_reads > 0 ? std::min(1.0, dram.read_bytes / l2_reads) : 0;
  const SmTime sm = sm_time(plan, occupancy, dram_share, gpu);
  LaunchTime result;
  for (std::size_t i = 0; i < kResources; ++i) result.terms_s[i] = sm.busy_cycles[i] / clock_hz;

  const double dram_s = dram_time_s(dram, plan.scatter.read_density, gpu);
  const double l2_s = l2_time_s(plan, gpu);
  result.terms_s[index(Resource::dram)] = dram_s;
  result.terms_s[index(Resource::l2)] = std::max(result.terms_s[index(Resource::l2)], l2_s);
  const std::array parts = {sm.cycles / clock_hz, dram_s, l2_s};
  result.time_s = Overlap(gpu.sustained.memory_overlap_exponent)(parts);

  const Traffic& asked = plan.total.compulsory;
  if (asked.write_bytes > 0) result.time_s += gpu.sustained.completion_latency_s.value_or(0);
  if (asked.read_bytes > reused(plan).read_bytes) {
    result.time_s += gpu.sustained.first_access_s.value_or(0);
  }
  return result;
}

double relative_spread(double expected_s, const Terms& terms, const Gpu& gpu) {
  const Sustained& known = gpu.sustained;
  const std::array by_regime = {known.spread_launch_bound, known.spread_memory,
                                known.spread_compute};
  return by_regime[static_cast<std::size_t>(regime_of(expected_s, terms))].value_or(
      kUncalibratedSpread);
}

}  // namespace roofcast
