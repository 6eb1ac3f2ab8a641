#pragma once
#include <pybind11/pybind11.h>

#include "cli/input/query.hpp"

namespace roofcast::python {

/// Reads a keyword argument as a member of a question: a bool, an integer, a float (a whole number
/// if it is one), a scalar of NumPy or a str. Throws InputError for anything else.
void read_field(pybind11::handle key, pybind11::handle value, cli::QueryField& field);

}  // namespace roofcast::python
