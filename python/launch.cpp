// The Python classes Launch, Occupancy and Waves of a prediction.
#include <pybind11/stl.h>

#include "model/types/launch.hpp"
#include "model/types/prediction.hpp"
#include "python/bindings.hpp"

namespace roofcast::python {
namespace py = pybind11;
namespace {

py::tuple extent(const std::array<std::int64_t, 3>& sizes) {
  return py::make_tuple(sizes[0], sizes[1], sizes[2]);
}

/// "<roofcast.Waves count=3.9 full=3 …>"
py::object brief(const py::object& value, const char* type,
                 std::initializer_list<const char*> members) {
  std::string text = std::string("<roofcast.") + type;
  for (const char* member : members) {
    text.append(" ").append(member).append("=").append(
        py::repr(value.attr(member)).cast<std::string>());
  }
  return py::str(text + ">");
}

}  // namespace

void bind_launch(py::module_& module) {
  py::class_<Launch>(module, "Launch", "A grid of blocks and what each block holds.")
      .def_property_readonly(
          "grid", [](const Launch& launch) { return extent(launch.grid); }, "(x, y, z) of blocks.")
      .def_property_readonly(
          "block", [](const Launch& launch) { return extent(launch.block); },
          "(x, y, z) of threads.")
      .def_property_readonly(
          "cluster", [](const Launch& launch) { return extent(launch.cluster); },
          "(x, y, z) of blocks in a cluster.")
      .def_readonly("registers", &Launch::registers, "Registers of a thread.")
      .def_readonly("shared_bytes", &Launch::shared_bytes, "Shared memory of a block (B).")
      .def("__repr__", [](const py::object& self) {
        return brief(self, "Launch", {"grid", "block", "cluster", "registers", "shared_bytes"});
      });
  py::class_<Occupancy>(module, "Occupancy", "What is resident on an SM.")
      .def_readonly("blocks_per_sm", &Occupancy::blocks_per_sm, "Blocks on an SM.")
      .def_readonly("warps_per_sm", &Occupancy::warps_per_sm, "Warps on an SM.")
      .def_property_readonly(
          "limited_by",
          [](const Occupancy& occupancy) { return std::string(name(occupancy.limited_by)); },
          "'warps', 'blocks', 'registers', 'shared_memory' or 'clusters'.")
      .def("__repr__", [](const py::object& self) {
        return brief(self, "Occupancy", {"blocks_per_sm", "warps_per_sm", "limited_by"});
      });
  py::class_<Waves>(module, "Waves", "How often the blocks fill the GPU.")
      .def_readonly("count", &Waves::count, "Blocks / blocks resident at once, fractional.")
      .def_readonly("full", &Waves::full, "Waves that fill the GPU.")
      .def_readonly("tail_utilization", &Waves::tail_utilization,
                    "Share of the places that the last, partial wave fills; 1 if none is partial.")
      .def_readonly("efficiency", &Waves::efficiency, "count / count rounded up.")
      .def_readonly("active_sms", &Waves::active_sms, "SMs that have a block at all.")
      .def("__repr__", [](const py::object& self) {
        return brief(self, "Waves",
                     {"count", "full", "tail_utilization", "efficiency", "active_sms"});
      });
}

}  // namespace roofcast::python
