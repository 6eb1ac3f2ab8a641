#pragma once
#include <optional>

#include "model/types/gpu.hpp"
#include "model/types/plan.hpp"

namespace roofcast {

/// The highest SM clock the device allows: what limits are computed at.
std::optional<double> limit_clock_hz(const Gpu& gpu);

/// The SM clocks at which the datasheet quotes the peaks of the vector pipes and, in that type, of
/// the tensor cores.
std::optional<double> vector_peak_clock_hz(const Gpu& gpu);
std::optional<double> tensor_peak_clock_hz(const Gpu& gpu, DType type);

/// The SM clock a kernel is expected to run at: as calibrated, else the vector boost clock. Where
/// tensor cores are used, however little, it is lower (`tensor_clock_hz`, else their boost clock):
/// gemm.skinny, whose tensor cores are busy for 2% of its time, runs at 1.81 and 1.87 GHz on two
/// GPUs that keep up 1.98 without them. The clock does not rise again between a program's launches.
std::optional<double> expected_clock_hz(const Gpu& gpu, bool on_tensor_cores);

/// The SM clock, and whether it was measured: then no law lowers it.
struct SmClock {
  double hz;
  bool given = false;
};

/// How much longer a kernel on tensor cores takes because their load lowers the clock: nothing
/// until they are busy for `power_free_share` of its time, then a share `power_slowdown` for each
/// tenfold of a microsecond that it lasts and full use of them: longer kernels, repeated, heat the
/// device for longer. No such constants: nothing.
double tensor_power_slowdown(double busy_share, double time_s, const Gpu& gpu);

/// How much longer than `time_s` a launch takes because a board may not spend more than its power
/// limit: the energy of its arithmetic takes so long at that limit. A FLOP costs in proportion to
/// the bytes of its type. No `vector_flop_energy_j` or no limit: nothing.
double board_power_slowdown(const Plan& plan, double time_s, const Gpu& gpu);

}  // namespace roofcast
