#pragma once
#include <optional>

#include "model/types/gpu.hpp"
#include "model/types/plan.hpp"

namespace roofcast {

/// The highest SM clock the device allows. Limits are computed at this clock.
std::optional<double> limit_clock_hz(const Gpu& gpu);

/// The SM clocks at which the datasheet quotes the peaks of the vector pipes, and of the tensor
/// cores in `type`.
std::optional<double> vector_peak_clock_hz(const Gpu& gpu);
std::optional<double> tensor_peak_clock_hz(const Gpu& gpu, DType type);

/// The SM clock a kernel is expected to run at: as calibrated, else the vector boost clock. Where
/// tensor cores are used, however little, it is lower (`tensor_clock_hz`, else their boost clock):
/// gemm.skinny, whose tensor cores are busy for 2% of its time, runs at 1.81 and 1.87 GHz on two
/// GPUs that keep up 1.98 without them. The clock does not rise again between a sequence's
/// launches.
std::optional<double> expected_clock_hz(const Gpu& gpu, bool on_tensor_cores);

/// An SM clock. If it was measured (`given`), no law lowers it.
struct SmClock {
  double hz;
  bool given = false;
  double worked_s = 0;  ///< Assumptions::worked_s
};

/// Relative slowdown of a kernel because the load of its tensor cores lowers the clock:
///   min(power_slowdown · log10(t ÷ 1 µs), (1 − f) ÷ f) · min(1, (busy_share − f) ÷ (1 − f))
/// with f = power_free_share and t = `time_s`, or `worked_s` if the device has worked for longer,
/// up to kHeatingSeconds. The logarithm: longer kernels, repeated, heat the device for longer. 0
/// where busy_share ≤ f or a constant is missing.
double tensor_power_slowdown(double busy_share, double time_s, double worked_s, const Gpu& gpu);

/// Relative slowdown of a launch at the board's power limit: the energy of its arithmetic ÷ (limit
/// · `time_s`) − 1, at least 0. A FLOP's energy is in proportion to the bytes of its type. 0 where
/// `vector_flop_energy_j` or the limit is unknown.
double board_power_slowdown(const Plan& plan, double time_s, const Gpu& gpu);

}  // namespace roofcast
