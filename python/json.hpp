#pragma once
#include <fmt/format.h>
#include <pybind11/pybind11.h>

#include <string>
#include <string_view>

#include "cli/output/json_writer.hpp"

namespace roofcast::python {

/// The Python value of a JSON text.
inline pybind11::object parsed(std::string_view json) {
  return pybind11::module_::import("json").attr("loads")(pybind11::str(json.data(), json.size()));
}

/// The JSON text of a Python value. Raises TypeError if it has none.
inline std::string dumped(pybind11::handle value) {
  return pybind11::module_::import("json").attr("dumps")(value).cast<std::string>();
}

/// The text that `write` writes to a JsonWriter.
template <class Write>
std::string written(const Write& write) {
  fmt::memory_buffer out;
  cli::JsonWriter json(out);
  write(json);
  return fmt::to_string(out);
}

}  // namespace roofcast::python
