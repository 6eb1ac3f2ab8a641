#pragma once
#include <vector>

#include "cli/input/device.hpp"

namespace roofcast::cli {

/// Every device of --gpu, once for each value of each --set KEY=lo:hi:step (or lo:hi:*factor), the
/// last key fastest. The device is then named "h200-sxm sm_count=100". Throws as load_device and
/// parse_axis do.
std::vector<Gpu> load_devices(const Options& options);

}  // namespace roofcast::cli
