#pragma once
#include "model/types/gpu.hpp"

namespace roofcast::specs {

/// Gives a GPU without a calibration the sustained values of its nearest relative among the GPUs
/// that this project measured: of the same die, else of the same architecture, else nearest in
/// compute capability and year. Shares are scaled by the datasheets (what_if.hpp), cycles and
/// exponents hold for the generation, launch costs are those of the relative's installation; the
/// interval is wider. A GPU with a calibration, a TPU and the relative itself stay as they are.
void take_from_relative(Gpu& gpu);

}  // namespace roofcast::specs
