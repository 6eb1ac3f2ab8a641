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

/// The expected SM clock of a launch sequence, before its own power lowers it:
/// Assumptions::sm_clock_hz; else the sustained or vector boost clock, slowed by
/// Assumptions::clock_slowdown. Any use of tensor cores caps it at `tensor_clock_hz`, else their
/// boost clock, for the whole sequence.
std::optional<double> expected_clock_hz(const Gpu& gpu, bool on_tensor_cores,
                                        const Assumptions& assumptions = {});

/// Work that takes energy, of a launch or a step of many.
struct WorkDone {
  double tensor_clk = 0;  ///< busy clocks of tensor cores, summed over the SMs
  double warp_instructions = 0;
  double dram_bytes = 0;
};

/// Energy of the board for work, beyond idle.
struct Energy {
  double sms_j = 0, dram_j = 0;
  double total_j() const { return sms_j + dram_j; }
};

/// SMs: 64 · E · warp instructions + T · R · tensor_clk. E = `vector_flop_energy_j`, per fp32 FLOP
/// on the SIMT pipes: each warp instruction counts as an FMA. T = `tensor_flop_energy_j`, else
/// kTensorEnergyShare · E. R: FLOPs in bf16, else fp16, of an SM's tensor cores per clock: every
/// type draws the same power. DRAM: kDramByteEnergy · bytes. 0 where E is unknown.
Energy energy_of(const WorkDone& work, const Gpu& gpu);

/// Relative slowdown of a launch of `time_s` whose SMs alone draw `power_w` at the full clock (DRAM
/// has its own supply):
///   (1 + min(1, kSlowdownOfADecade · log10(time_s ÷ 1 µs)) · v) · (1 + f) − 1
/// p = power ÷ board limit, at least 1. v = √min(p, kLeastVoltagePower) − 1: voltage falls with the
/// clock, and power with the square of both. f = max(1, p ÷ kLeastVoltagePower) − 1: at the least
/// voltage the clock falls in proportion. 0 where the limit is unknown.
double launch_slowdown(double power_w, double time_s, const Gpu& gpu);

/// Further slowdown by the mean power of a device after `worked_s` without a pause:
/// ((1 + v) · (1 + f) − 1) ÷ (1 + kHeatingSeconds ÷ worked_s).
double long_run_slowdown(double power_w, double worked_s, const Gpu& gpu);

}  // namespace roofcast
