#pragma once
#include <optional>

#include "model/types/gpu.hpp"

namespace roofcast {

/// The highest SM clock the device allows: what limits are computed at.
std::optional<double> limit_clock_hz(const Gpu& gpu);

/// The SM clocks at which the datasheet quotes the peaks of the vector pipes and, in that type, of
/// the tensor cores.
std::optional<double> vector_peak_clock_hz(const Gpu& gpu);
std::optional<double> tensor_peak_clock_hz(const Gpu& gpu, DType type);

/// The SM clock a kernel is expected to run at: as calibrated, else the vector boost clock.
std::optional<double> expected_clock_hz(const Gpu& gpu);

}  // namespace roofcast
