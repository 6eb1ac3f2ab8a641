#include "python/names.hpp"

#include "cli/input/kernel_options.hpp"
#include "hw_specs/loader.hpp"

namespace roofcast::python {
namespace py = pybind11;
namespace {

/// The UTF-8 text of a str, without a copy; empty for any other object.
std::string_view letters(py::handle object) {
  if (!PyUnicode_Check(object.ptr())) return {};
  Py_ssize_t size = 0;
  const char* text = PyUnicode_AsUTF8AndSize(object.ptr(), &size);
  if (text == nullptr) throw py::error_already_set();
  return {text, static_cast<std::size_t>(size)};
}

}  // namespace

KernelRef Names::kernel(py::handle object) {
  if (const auto found = kernels_.find(letters(object)); found != kernels_.end()) {
    return found->second;
  }
  if (py::isinstance<KernelRef>(object)) return object.cast<const KernelRef&>();
  const std::string name = text_of(object, "a kernel");
  KernelRef found = cli::kernel_named(name);
  if (found.owner == nullptr) kernels_.emplace(name, found);
  return found;
}

std::shared_ptr<Device> Names::device(py::handle object) {
  if (const auto found = devices_.find(letters(object)); found != devices_.end()) {
    return found->second;
  }
  if (py::isinstance<Device>(object)) {
    return object.cast<std::shared_ptr<Device>>();
  }
  const std::string name = text_of(object, "a GPU");
  auto found = make_device(name, {}, py::none());
  if (specs::find_embedded(name) != nullptr) devices_.emplace(name, found);
  return found;
}

}  // namespace roofcast::python
