#pragma once
#include <pybind11/pybind11.h>

#include <memory>
#include <string>

#include "cli/input/device.hpp"

namespace roofcast::python {

/// A device with what it was made from.
struct Device {
  std::string name_or_path;
  cli::DeviceOptions options;
  Gpu gpu;
};

/// The path or name that a Python str or os.PathLike is. Throws InputError for anything else;
/// `what` names it in the message.
std::string text_of(pybind11::handle object, const char* what);

/// A device by name or path. `set` is a mapping from keys of the specification to values, or None.
/// Throws InputError or UsageError.
std::shared_ptr<Device> make_device(const std::string& name_or_path, cli::DeviceOptions options,
                                    pybind11::handle set);

}  // namespace roofcast::python
