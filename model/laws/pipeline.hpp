#pragma once

namespace roofcast {

/// Cycles of a wait that stay exposed in each step of a loop whose loads are issued `stages` - 1
/// steps ahead of their use: what is left of `latency_cycles` after so many steps of `step_cycles`.
constexpr double exposed_cycles(double latency_cycles, double stages, double step_cycles) {
  const double hidden = (stages - 1) * step_cycles;
  return latency_cycles > hidden ? latency_cycles - hidden : 0;
}

}  // namespace roofcast
