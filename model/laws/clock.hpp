#pragma once
#include <optional>

#include "model/types/gpu.hpp"

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

/// An SM clock. If it is `given`, measured or of a whole step, the launch does not lower it.
struct SmClock {
  double hz;
  bool given = false;
  double worked_s = 0;  ///< Assumptions::worked_s
};

/// What a launch, or a step of many, does that takes energy.
struct WorkDone {
  double tensor_clk = 0;  ///< clocks for which tensor cores are busy, added up over the SMs
  double warp_instructions = 0;
  double dram_bytes = 0;
};

/// Energy that the board spends on the work, beyond what it takes idle (J):
///   E · (64 · warp instructions + kTensorEnergyShare · R · tensor_clk) + kDramByteEnergy · bytes
/// with E = `vector_flop_energy_j`, the energy of an fp32 FLOP on the SIMT pipes, of which an FMA
/// of a warp does 64, and R the FLOPs in bf16, else fp16, that an SM's tensor cores do in a clock: in
/// every type they take as much power. 0 where E is unknown.
double energy_j(const WorkDone& work, const Gpu& gpu);

/// Relative slowdown of work that would draw `power_w` at the full clock. The voltage falls with
/// the clock, and power with the square of both, until the voltage is at its least. Relative to the
/// power limit, p = power_w ÷ limit ≥ 1:
///   (1 + h · (√min(p, kLeastVoltagePower) − 1)) · max(1, p ÷ kLeastVoltagePower) − 1
///   h = log(worked_s ÷ 1 µs) ÷ log(kHeatingSeconds ÷ 1 µs), from 0 to 1
/// `worked_s`: for how long the device has worked without a pause. 0 where the limit is unknown.
double power_slowdown(double power_w, double worked_s, const Gpu& gpu);

}  // namespace roofcast
