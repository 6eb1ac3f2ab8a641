#pragma once
// What the device keeps up for tiled products, of one kind of tile or of several.
#include <algorithm>
#include <cmath>

#include "model/types/gpu.hpp"

namespace roofcast {

/// As measured; where no one measured it, its datasheet or nothing.
struct TileRates {
  /// `streams`: the loop reads its operands once, in long streams, as copies do.
  TileRates(bool on_tensor_cores, double clock_hz, const Gpu& gpu, bool streams = false)
      : math_efficiency((on_tensor_cores ? gpu.sustained.tile_math_efficiency
                                         : gpu.sustained.tile_vector_efficiency)
                            .value_or(1)),
        l2(gpu.sustained.tile_l2_bytes_per_s.value_or(
            gpu.sustained.l2_bandwidth_bytes_per_s.value_or(0))),
        l2_of_threads(gpu.sustained.l2_bandwidth_bytes_per_s.value_or(0)),
        dram((streams ? gpu.sustained.dram_read_bytes_per_s : gpu.sustained.tile_dram_bytes_per_s)
                 .value_or(gpu.sustained.dram_read_bytes_per_s.value_or(
                     gpu.memory.dram_bandwidth_bytes_per_s.value_or(0)))),
        dram_sms(gpu.sustained.tile_dram_sm_share.value_or(1) *
                 static_cast<double>(gpu.sm_count.value_or(1))),
        l2_of_sm(gpu.sm.l2_bytes_per_clk.value_or(0) * clock_hz),
        l2_latency_s(gpu.sustained.l2_latency_cycles.value_or(0) / clock_hz),
        trip_s(gpu.sustained.tile_load_latency_cycles.value_or(0) / clock_hz),
        step_s(gpu.sustained.tile_step_cycles.value_or(0) / clock_hz),
        merged_per_s(gpu.sustained.l2_partial_writes_per_s.value_or(0)),
        outputs_per_s(gpu.sustained.tile_outputs_per_clk.value_or(0) * clock_hz) {}

  double math_efficiency;
  double l2;             ///< of copies of tiles, B/s
  double l2_of_threads;  ///< of what threads load and store themselves, B/s
  double dram;           ///< B/s
  double dram_sms;       ///< that load from DRAM at that rate together
  double l2_of_sm;       ///< of one SM, B/s
  double l2_latency_s;   ///< of a load that nothing delays
  double trip_s;         ///< of a copy, under load
  double step_s;         ///< that a step takes at the least
  double merged_per_s;   ///< writes of a line in part, by all of L2
  double outputs_per_s;  ///< of one SM

  /// Of DRAM, B/s, when so many SMs load: as a library's do, or each with so many bytes in flight
  /// (Little's law), which take a trip and the time that the SM needs to copy them. The 4-norm, as of other
  /// resources: a few SMs come near the rate of DRAM before they reach it.
  double dram_of(double sms, double in_flight_bytes = 0, double copying_s = 0) const {
    if (in_flight_bytes <= 0 || trip_s <= 0 || dram <= 0)
      return dram * std::min(1.0, sms / dram_sms);
    const double flight = sms * in_flight_bytes / (trip_s + copying_s);
    const double share = flight / dram;
    return flight / std::sqrt(std::sqrt(1 + share * share * share * share));
  }
};

/// Nothing where the rate is not known.
constexpr double over(double amount, double rate) {
  return rate > 0 ? amount / rate : 0;
}

}  // namespace roofcast
