#pragma once
#include <pybind11/pybind11.h>

#include <memory>
#include <string>

#include "cli/input/device.hpp"

namespace roofcast::python {

/// A device, with the name or path and the options that it was made from.
struct Device {
  std::string name_or_path;
  cli::DeviceOptions options;
  Gpu gpu;
};

/// The text of a Python str or os.PathLike. Throws InputError for anything else, which `what` names
/// in the message.
std::string text_of(pybind11::handle object, const char* what);

/// A device by name or path. `set` is None or a dict from keys of the specification to values,
/// which replace overrides of the same key in `options`. Throws InputError or UsageError.
std::shared_ptr<Device> make_device(const std::string& name_or_path, cli::DeviceOptions options,
                                    pybind11::handle set);

}  // namespace roofcast::python
