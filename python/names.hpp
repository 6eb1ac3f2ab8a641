#pragma once
#include <memory>
#include <string>

#include "cli/input/by_name.hpp"
#include "model/catalog.hpp"
#include "python/device.hpp"

namespace roofcast::python {

/// Caches the program's own kernels and devices by name. Files are read anew at each call. Not
/// thread-safe by itself: Python's global interpreter lock guards it.
class Names {
 public:
  /// The kernel of a Kernel, or the one that a str or os.PathLike names. Throws InputError or
  /// UsageError.
  KernelRef kernel(pybind11::handle object);
  /// The device of a Gpu, or the one that a str or os.PathLike names. Throws as kernel does.
  std::shared_ptr<Device> device(pybind11::handle object);

 private:
  cli::ByName<KernelRef> kernels_;
  cli::ByName<std::shared_ptr<Device>> devices_;
};

}  // namespace roofcast::python
