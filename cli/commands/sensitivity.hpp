#pragma once
// How a forecast depends on the values of a device.
#include <string>
#include <vector>

#include "cli/input/device.hpp"
#include "model/roofcast.hpp"

namespace roofcast::cli {

/// Relative change of the expected time where one value of the device is a tenth larger; a whole
/// number is rounded up.
struct Sensitivity {
  std::string key;  ///< as --set takes it
  std::string source;
  double value = 0;
  double larger = 0;
  double change = 0;  ///< relative change of the expected time: -0.05 is 5% less
};

/// Every positive number of the device that changes the time by at least 0.05%, the largest change
/// first. A value that a rule of the specification does not let grow is left out. Throws InputError
/// where the question has no expected time.
std::vector<Sensitivity> sensitivities(const KernelRef& kernel, const Problem& problem,
                                       const std::string& device, const DeviceOptions& options,
                                       const Assumptions& assumptions);

}  // namespace roofcast::cli
