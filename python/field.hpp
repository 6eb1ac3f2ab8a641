#pragma once
#include <pybind11/pybind11.h>

#include "cli/input/query.hpp"

namespace roofcast::python {

/// Takes a keyword argument as the member of a question: bool, whole number (also as a float or of
/// NumPy), float or str. Throws InputError for anything else.
void read_field(pybind11::handle key, pybind11::handle value, cli::QueryField& field);

}  // namespace roofcast::python
