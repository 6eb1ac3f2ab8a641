#include "hw_specs/what_if.hpp"

#include <algorithm>
#include <optional>

namespace roofcast::specs {
namespace {

template <class Number>
double ratio(std::optional<Number> asked, std::optional<Number> measured) {
  return asked && measured && *measured > 0
             ? static_cast<double>(*asked) / static_cast<double>(*measured)
             : 1;
}

}  // namespace

void carry_over(const Gpu& measured, Gpu& asked) {
  const auto scale_value = [](std::optional<double>& value, const std::optional<double>& from,
                              double factor) {
    if (value && value == from) value = *value * factor;
  };
  const auto scale = [&](std::optional<double> Sustained::*member, double factor) {
    scale_value(asked.sustained.*member, measured.sustained.*member, factor);
  };
  const double dram =
      ratio(asked.memory.dram_bandwidth_bytes_per_s, measured.memory.dram_bandwidth_bytes_per_s);
  const double clock = ratio(asked.clocks.vector_boost_hz, measured.clocks.vector_boost_hz);
  // If a datasheet lacks the rate of all of L2, the rate is taken to grow with the number of SMs.
  const bool known = asked.memory.l2_bytes_per_clk && measured.memory.l2_bytes_per_clk;
  const double l2_rate =
      clock * (known ? ratio(asked.memory.l2_bytes_per_clk, measured.memory.l2_bytes_per_clk)
                     : ratio(asked.sm_count, measured.sm_count));
  scale(&Sustained::dram_read_bytes_per_s, dram);
  scale(&Sustained::dram_write_bytes_per_s, dram);
  scale(&Sustained::dram_scattered_bytes_per_s, dram);
  scale(&Sustained::l2_bandwidth_bytes_per_s, l2_rate);
  scale(&Sustained::sm_clock_hz, clock);
  scale(&Sustained::tensor_clock_hz,
        ratio(asked.clocks.tensor_boost_hz, measured.clocks.tensor_boost_hz));
  for (const auto member :
       {&Latencies::fma_cycles, &Latencies::shared_cycles, &Latencies::l1_cycles,
        &Latencies::l2_cycles, &Latencies::dram_cycles}) {
    scale_value(asked.sustained.latency.*member, measured.sustained.latency.*member,
                ratio(asked.latency.*member, measured.latency.*member));
  }
  scale(&Sustained::special_per_clk, ratio(asked.sm.special_per_clk, measured.sm.special_per_clk));
  scale(&Sustained::conversion_per_clk,
        ratio(asked.sm.conversion_per_clk, measured.sm.conversion_per_clk));
  for (const DType type : kAllDTypes) {
    scale_value(asked.sustained.vector_flop_per_clk[type],
                measured.sustained.vector_flop_per_clk[type],
                ratio(asked.sm.vector_flop_per_clk[type], measured.sm.vector_flop_per_clk[type]));
  }
}

}  // namespace roofcast::specs
