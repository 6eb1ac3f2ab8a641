#pragma once
// The commands of the measuring program, which is linked with CUDA.
#include "cli/commands/command.hpp"
#include "cli/input/device.hpp"
#include "model/types/gpu.hpp"

namespace roofcast::cli {

/// The GPU that --gpu names, else the shipped one that fits this machine's device. Throws
/// harness::NoDevice, and InputError where none fits.
Gpu device_at_hand(const Options& options, const DeviceOptions& how);

ExitCode measure_suite(const Arguments& arguments);
ExitCode measure_calibration(const Arguments& arguments);

}  // namespace roofcast::cli
