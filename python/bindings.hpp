#pragma once
// The parts of the Python module: each function adds one.
#include <pybind11/pybind11.h>

#include "python/names.hpp"

namespace roofcast::python {

void bind_errors(pybind11::module_& module);
void bind_kernel(pybind11::module_& module);
void bind_device(pybind11::module_& module);
/// Adds Launch, Occupancy and Waves; bind_result calls it.
void bind_launch(pybind11::module_& module);
void bind_result(pybind11::module_& module);
/// The bound functions share ownership of `names`.
void bind_predict(pybind11::module_& module, std::shared_ptr<Names> names);
void bind_models(pybind11::module_& module, std::shared_ptr<Names> names);
void bind_sweep(pybind11::module_& module, std::shared_ptr<Names> names);

}  // namespace roofcast::python
