#include "validation/harness/nvml.hpp"

#include <dlfcn.h>

#include <array>
#include <memory>

namespace roofcast::harness {
namespace {

// The few declarations of nvml.h used here, a stable C interface. No package that the kernels need
// contains the header.
using NvmlDevice = void*;
enum NvmlClock : int { kSmClock = 1, kMemoryClock = 2 };
constexpr int kNvmlSuccess = 0;

struct CloseLibrary {
  void operator()(void* library) const { (void)dlclose(library); }
};

class Nvml {
 public:
  Nvml() : library_(dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL)) {
    const auto init = find<int()>("nvmlInit_v2");
    ready_ = init != nullptr && init() == kNvmlSuccess;
  }
  ~Nvml() {
    if (const auto shutdown = find<int()>("nvmlShutdown"); ready_ && shutdown) (void)shutdown();
  }
  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;

  /// Whether the function exists and succeeded.
  template <class... Parameters, class... Arguments>
  bool call(const char* name, Arguments... arguments) const {
    const auto function = find<int(Parameters...)>(name);
    return ready_ && function != nullptr && function(arguments...) == kNvmlSuccess;
  }

 private:
  template <class Function>
  Function* find(const char* name) const {
    return library_ ? reinterpret_cast<Function*>(dlsym(library_.get(), name)) : nullptr;
  }

  std::unique_ptr<void, CloseLibrary> library_;
  bool ready_ = false;
};

}  // namespace

ManagementFacts management_facts(const char* pci_bus_id) {
  const Nvml nvml;
  ManagementFacts facts;
  std::array<char, 96> version{};
  if (nvml.call<char*, unsigned>("nvmlSystemGetDriverVersion", version.data(),
                                 static_cast<unsigned>(version.size()))) {
    facts.driver = version.data();
  }
  NvmlDevice device = nullptr;
  if (!nvml.call<const char*, NvmlDevice*>("nvmlDeviceGetHandleByPciBusId_v2", pci_bus_id,
                                           &device)) {
    return facts;
  }
  unsigned value = 0;
  if (nvml.call<NvmlDevice, unsigned*>("nvmlDeviceGetPowerManagementLimit", device, &value)) {
    facts.power_limit_w = 1e-3 * value;  // from mW
  }
  if (nvml.call<NvmlDevice, int, unsigned*>("nvmlDeviceGetMaxClockInfo", device, kSmClock,
                                            &value)) {
    facts.max_sm_clock_hz = 1e6 * value;  // from MHz
  }
  if (nvml.call<NvmlDevice, int, unsigned*>("nvmlDeviceGetMaxClockInfo", device, kMemoryClock,
                                            &value)) {
    facts.memory_clock_hz = 1e6 * value;
  }
  return facts;
}

}  // namespace roofcast::harness
