#pragma once
#include <memory>
#include <string>

#include "cli/input/by_name.hpp"
#include "model/catalog.hpp"
#include "python/device.hpp"

namespace roofcast::python {

/// Kernels and devices by name, each looked up once. Files are read anew each time. Python's lock
/// guards it.
class Names {
 public:
  /// The kernel that a Kernel, a str or an os.PathLike is or names. Throws InputError or
  /// UsageError.
  KernelRef kernel(pybind11::handle object);
  /// The same for a device.
  std::shared_ptr<Device> device(pybind11::handle object);

 private:
  cli::ByName<KernelRef> kernels_;
  cli::ByName<std::shared_ptr<Device>> devices_;
};

}  // namespace roofcast::python
