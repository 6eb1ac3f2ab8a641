#pragma once
#include "model/laws/clock.hpp"
#include "model/types/gpu.hpp"
#include "model/types/plan.hpp"

namespace roofcast {

/// How much longer a kernel on tensor cores takes because their load lowers the clock: nothing
/// until they are busy for `power_free_share` of its time, then a share `power_slowdown` for each
/// tenfold of a microsecond that it lasts and full use of them: longer kernels, repeated, heat the
/// device for longer. A train of launches heats as one kernel as long as `kTrain` of them, of which
/// the clocks of steady runs tell 10 to 100 alike. No such constants: nothing.
double tensor_power_slowdown(double busy_share, double time_s, const SmClock& clock,
                             const Gpu& gpu);

/// How much longer than `time_s` a launch takes because a board may not spend more than its power
/// limit: the energy of its arithmetic takes so long at that limit. A FLOP costs in proportion to
/// the bytes of its type. No `vector_flop_energy_j` or no limit: nothing.
double board_power_slowdown(const Plan& plan, double time_s, const Gpu& gpu);

}  // namespace roofcast
