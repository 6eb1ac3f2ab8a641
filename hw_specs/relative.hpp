#pragma once
#include <span>
#include <string_view>

#include "model/types/gpu.hpp"

namespace roofcast::specs {

/// The shipped GPUs that this project calibrated by runs of its own.
std::span<const Gpu> measured_gpus();

/// The nearest of them: itself, else of the same die, else of the same architecture, else nearest
/// in compute capability and year. Null where there is none.
const Gpu* nearest(const Gpu& gpu, std::span<const Gpu> measured);

/// Gives `gpu` the sustained values of a relative that this project measured: of the one of that
/// name, or, where that is empty, of the nearest; then over them what published measurements of
/// other cards of the same die, or of its architecture with an L2 of the same size, tell of the chip
/// (DRAM, L2, power), and those of its architecture of the energy of a FLOP. Shares are scaled by
/// the datasheets (what_if.hpp), cycles and exponents hold for the generation, launch costs are
/// those of the relative's installation; the interval is wider. A TPU stays as it is. Throws
/// InputError for a name that is no measured GPU's.
void take_from_relative(Gpu& gpu, std::string_view relative = {});

/// The same from a device at hand, the interval left as wide as the relative's.
void take_values(const Gpu& relative, Gpu& gpu);

bool same_die(const Gpu& a, const Gpu& b);

/// By how much the interval of a relative's forecast is wider than the relative's own
/// (relatives.json, made by validation/calibration/fit_relatives).
struct Widening {
  double same_die = 1;
  double other_die = 1;
};
Widening shipped_widening();

}  // namespace roofcast::specs
