#pragma once

namespace roofcast {

/// Cycles of a wait that stay exposed in each step of a loop with `stages` buffers: so many steps
/// take at least the latency and one step's own time, a step at least its own.
///   max(step, (latency + step) ÷ stages) - step
constexpr double exposed_cycles(double latency_cycles, double stages, double step_cycles) {
  const double left = latency_cycles - (stages - 1) * step_cycles;
  return left > 0 ? left / stages : 0;
}

}  // namespace roofcast
