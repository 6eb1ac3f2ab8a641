#pragma once
// What the module consists of: each function adds its part to it.
#include <pybind11/pybind11.h>

#include "python/names.hpp"

namespace roofcast::python {

void bind_errors(pybind11::module_& module);
void bind_kernel(pybind11::module_& module);
void bind_device(pybind11::module_& module);
/// Launch, Occupancy and Waves.
void bind_launch(pybind11::module_& module);
void bind_result(pybind11::module_& module);
/// `names` is kept as long as the functions are.
void bind_predict(pybind11::module_& module, std::shared_ptr<Names> names);
void bind_models(pybind11::module_& module, std::shared_ptr<Names> names);
void bind_sweep(pybind11::module_& module, std::shared_ptr<Names> names);

}  // namespace roofcast::python
