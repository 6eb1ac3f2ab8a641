#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

#include "model/catalog.hpp"
#include "python/device.hpp"

namespace roofcast::python {

/// Kernels and devices by name, each looked up once. Files are read anew each time. Python's lock
/// guards it.
class Names {
 public:
  /// The kernel that a Kernel, a str or an os.PathLike is or names. Throws InputError or UsageError.
  KernelRef kernel(pybind11::handle object);
  /// The same for a device.
  std::shared_ptr<Device> device(pybind11::handle object);

 private:
  struct TextHash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const {
      return std::hash<std::string_view>()(text);
    }
  };
  template <class Value>
  using ByName = std::unordered_map<std::string, Value, TextHash, std::equal_to<>>;

  ByName<KernelRef> kernels_;
  ByName<std::shared_ptr<Device>> devices_;
};

}  // namespace roofcast::python
