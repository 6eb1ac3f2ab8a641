#pragma once
#include <optional>

#include "model/types/gpu.hpp"
#include "model/types/prediction.hpp"

namespace roofcast {

/// The highest SM clock the device allows. Limits are computed at this clock.
std::optional<double> limit_clock_hz(const Gpu& gpu);

/// The SM clocks at which the datasheet quotes the peaks of the vector pipes, and of the tensor
/// cores in `type`.
std::optional<double> vector_peak_clock_hz(const Gpu& gpu);
std::optional<double> tensor_peak_clock_hz(const Gpu& gpu, DType type);

/// The SM clock a launch sequence is expected to run at, before its own power lowers it: a measured
/// clock where one is assumed; else as calibrated, or the vector boost clock, slowed by
/// Assumptions::clock_slowdown. Where tensor cores are used, however little, it is lower
/// (`tensor_clock_hz`, else their boost clock): gemm.skinny, whose tensor cores are busy for 2% of
/// its time, runs at 1.81 and 1.87 GHz on two GPUs that keep up 1.98 without them. The clock does
/// not rise again between a sequence's launches.
std::optional<double> expected_clock_hz(const Gpu& gpu, bool on_tensor_cores,
                                        const Assumptions& assumptions = {});

/// What a launch, or a step of many, does that takes energy.
struct WorkDone {
  double tensor_clk = 0;  ///< clocks for which tensor cores are busy, added up over the SMs
  double warp_instructions = 0;
  double dram_bytes = 0;
};

/// Energy that the board spends on work, beyond what it takes idle.
struct Energy {
  double sms_j = 0, dram_j = 0;
  double total_j() const { return sms_j + dram_j; }
};

/// Of the SMs: 64 · E · warp instructions + T · R · tensor_clk, with E = `vector_flop_energy_j`,
/// that of an fp32 FLOP on the SIMT pipes: an instruction of a warp takes as much as an FMA; T =
/// `tensor_flop_energy_j`, else kTensorEnergyShare · E; and R the FLOPs in bf16, else fp16, that an
/// SM's tensor cores do in a clock: in every type they take as much power. Of DRAM: kDramByteEnergy
/// · bytes. 0 where E is unknown.
Energy energy_of(const WorkDone& work, const Gpu& gpu);

/// Relative slowdown of a launch whose SMs draw `power_w` at the full clock, and which takes
/// `time_s`, at once; DRAM has its own supply:
///   (1 + min(1, kSlowdownOfADecade · log10(time_s ÷ 1 µs)) · v) · (1 + f) − 1
/// with p the power ÷ the board's limit, at least 1; v = √min(p, kLeastVoltagePower) − 1: voltage
/// falls with the clock, and power with the square of both; f = max(1, p ÷ kLeastVoltagePower) − 1:
/// at the least voltage the clock falls in proportion. 0 where the limit is unknown.
double launch_slowdown(double power_w, double time_s, const Gpu& gpu);

/// The further slowdown of all launches by the mean power of a device that has worked for
/// `worked_s` without a pause: ((1 + v) · (1 + f) − 1) ÷ (1 + kHeatingSeconds ÷ worked_s).
double long_run_slowdown(double power_w, double worked_s, const Gpu& gpu);

}  // namespace roofcast
