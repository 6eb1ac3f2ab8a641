#pragma once
// How a forecast hangs on the values of a device.
#include <string>
#include <vector>

#include "cli/input/device.hpp"
#include "model/roofcast.hpp"

namespace roofcast::cli {

/// What the expected time does when one value of the device is a tenth larger; a whole number grows
/// to the next whole one.
struct Sensitivity {
  std::string key;  ///< as --set takes it
  std::string source;
  double value = 0;
  double larger = 0;
  double change = 0;  ///< of the time, as a share: -0.05 where it falls by 5%
};

/// Every number of the device whose change shows, the strongest first. Values that cannot be larger
/// (a rule of the specification) are left out. Throws InputError where the question has no expected
/// time.
std::vector<Sensitivity> sensitivities(const KernelRef& kernel, const Problem& problem,
                                       const std::string& device, const DeviceOptions& options,
                                       const Assumptions& assumptions);

}  // namespace roofcast::cli
