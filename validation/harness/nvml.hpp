#pragma once
// Facts of a device from NVML, which comes with the driver and is loaded at run time. Without it
// they are empty.
#include <optional>
#include <string>

namespace roofcast::harness {

struct ManagementFacts {
  std::string driver;  ///< "580.159.03"; empty if unknown
  std::optional<double> power_limit_w;
  std::optional<double> max_sm_clock_hz;
  std::optional<double> memory_clock_hz;  ///< maximum
};

/// Facts of the device at a PCI address, as cudaDeviceGetPCIBusId writes it.
ManagementFacts management_facts(const char* pci_bus_id);

}  // namespace roofcast::harness
