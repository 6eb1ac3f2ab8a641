#pragma once
// The commands of the program that is linked with CUDA.
#include "cli/commands/command.hpp"
#include "cli/input/device.hpp"
#include "model/types/gpu.hpp"

namespace roofcast::cli {

/// The specification that --gpu names, or the one that fits the device at hand. Throws
/// validation::NoDevice, and InputError where none fits.
Gpu device_at_hand(const Options& options, const DeviceOptions& how);

ExitCode measure_suite(const Arguments& arguments);
ExitCode measure_calibration(const Arguments& arguments);

}  // namespace roofcast::cli
