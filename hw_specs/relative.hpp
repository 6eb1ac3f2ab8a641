#pragma once
#include <span>
#include <string_view>

#include "model/types/gpu.hpp"

namespace roofcast::specs {

/// The shipped GPUs that this project measured and calibrated itself.
std::span<const Gpu> measured_gpus();

/// The GPU of `measured` nearest to `gpu`: itself, else of the same die, else of the same
/// architecture, else nearest in major compute capability, then in year. Null if there is none.
const Gpu* nearest(const Gpu& gpu, std::span<const Gpu> measured);

/// Gives `gpu` the sustained values of a measured GPU: the one named `relative`, or, if that is
/// empty, the nearest. Shares are scaled by the datasheets (what_if.hpp); cycles and exponents hold
/// for the generation; launch costs are those of the relative's installation. So is the size of a
/// DRAM read where the specification is silent. Published values
/// replace the nearest's: DRAM and L2 rates from cards of the same die or L2, a FLOP's energy from
/// its architecture. The interval is wider unless the relative is `gpu` itself. A device without
/// occupancy rules (TPU) stays as it is. Throws InputError if `relative` was not measured.
void take_from_relative(Gpu& gpu, std::string_view relative = {});

/// Gives `gpu` the scaled values of `relative` only, with the relative's own interval.
void take_values(const Gpu& relative, Gpu& gpu);

bool same_die(const Gpu& a, const Gpu& b);

/// Factors on the relative's half-widths of the interval, by whether the dies are the same
/// (relatives.json, made by validation/calibration/fit_relatives).
struct Widening {
  double same_die = 1;
  double other_die = 1;
};
Widening shipped_widening();

}  // namespace roofcast::specs
