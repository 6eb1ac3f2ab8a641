#include "python/device.hpp"

#include <fmt/format.h>
#include <pybind11/stl.h>

#include "hw_specs/calibration_words.hpp"
#include "python/bindings.hpp"
#include "python/json.hpp"

namespace roofcast::python {
namespace py = pybind11;
namespace {

/// The dict `set` as texts for --set: "sm_count=144".
std::vector<std::string> set_texts(py::handle set) {
  std::vector<std::string> texts;
  if (set.is_none()) return texts;
  if (!py::isinstance<py::dict>(set)) {
    throw InputError("set takes a dict such as {\"sm_count\": 144}");
  }
  for (const auto& [key, value] : py::reinterpret_borrow<py::dict>(set)) {
    texts.push_back(fmt::format("{}={}", text_of(key, "a key of set"), dumped(value)));
  }
  return texts;
}

std::shared_ptr<Device> device_asked(py::handle name_or_path, py::handle set, py::handle overlay,
                                     bool datasheet, py::handle relative) {
  cli::Options options;
  if (!overlay.is_none()) options.add("overlay", {text_of(overlay, "overlay")});
  if (!relative.is_none()) options.add("relative", {text_of(relative, "relative")});
  if (datasheet) options.add("datasheet", {});
  return make_device(text_of(name_or_path, "a GPU"), cli::read_device_options(options), set);
}

py::dict values_of(const Device& device, bool sources) {
  py::dict found;
  for (const auto& value :
       specs::values_with_sources(cli::device_source(device.name_or_path, device.options))) {
    const py::str key(value.pointer.substr(1));
    found[key] = sources ? py::object(py::str(value.source)) : parsed(value.value);
  }
  return found;
}

}  // namespace

std::string text_of(py::handle object, const char* what) {
  if (py::isinstance<py::str>(object)) return object.cast<std::string>();
  if (py::hasattr(object, "__fspath__")) {
    return py::module_::import("os").attr("fspath")(object).cast<std::string>();
  }
  throw InputError(
      fmt::format("{} is given as text or path, not as {}", what,
                  py::str(py::type::handle_of(object).attr("__name__")).cast<std::string>()));
}

std::shared_ptr<Device> make_device(const std::string& name_or_path, cli::DeviceOptions options,
                                    py::handle set) {
  cli::Options given;
  given.add("set", set_texts(set));
  for (specs::Override& one : cli::read_device_options(given).overrides) {
    std::erase_if(options.overrides, [&](const auto& other) { return other.key == one.key; });
    options.overrides.push_back(std::move(one));
  }
  Gpu gpu = cli::load_device(name_or_path, options);
  return std::make_shared<Device>(Device{name_or_path, std::move(options), std::move(gpu)});
}

void bind_device(py::module_& module) {
  using Class = py::class_<Device, std::shared_ptr<Device>>;
  Class(module, "Gpu",
        "Gpu(name_or_path, *, set=None, overlay=None, datasheet=False, relative=None)\n\n"
        "A device: one that `gpus()` lists, or the path of a specification NAME.json.\n\n"
        "set        {key: value} overrides values of the specification, in its units: SI\n"
        "overlay    the path of a calibration, instead of the one shipped\n"
        "datasheet  True: no calibration, datasheet values alone\n"
        "relative   the name of a measured GPU whose sustained values are taken instead\n\n"
        "Raises InputError for an unknown name or key, and for a file that breaks a rule.")
      .def(py::init(&device_asked), py::arg("name_or_path"), py::kw_only(),
           py::arg("set") = py::none(), py::arg("overlay") = py::none(),
           py::arg("datasheet") = false, py::arg("relative") = py::none())
      .def_property_readonly(
          "name", [](const Device& device) { return device.gpu.name; }, "As `gpus()` lists it.")
      .def_property_readonly(
          "title", [](const Device& device) { return device.gpu.title; }, "As the vendor calls it.")
      .def_property_readonly(
          "year", [](const Device& device) { return device.gpu.year; }, "Of the announcement.")
      .def_property_readonly(
          "sm_count", [](const Device& device) { return device.gpu.sm_count; },
          "Multiprocessors; None where unknown.")
      .def_property_readonly(
          "dram_bytes", [](const Device& device) { return device.gpu.memory.dram_bytes; },
          "Capacity of DRAM (B); None where unknown.")
      .def_property_readonly(
          "dram_bandwidth",
          [](const Device& device) { return device.gpu.memory.dram_bandwidth_bytes_per_s; },
          "The datasheet's bandwidth of DRAM (B/s); None where unknown.")
      .def_property_readonly(
          "l2_bytes", [](const Device& device) { return device.gpu.memory.l2_bytes; },
          "Capacity of L2 (B); None where unknown.")
      .def_property_readonly(
          "calibration", [](const Device& device) { return specs::calibration_word(device.gpu); },
          "Where the sustained values come from, in a word or two.")
      .def(
          "values", [](const Device& device) { return values_of(device, false); },
          "values()\n\nEvery value of the specification and the calibration by its key, in SI "
          "units.")
      .def(
          "sources", [](const Device& device) { return values_of(device, true); },
          "sources()\n\nWhere each of the `values()` comes from.")
      .def("__repr__", [](const Device& device) {
        const py::str name = py::repr(py::str(device.name_or_path));
        if (device.options.overrides.empty()) return py::str("Gpu({})").format(name);
        py::dict set;
        for (const auto& one : device.options.overrides) set[py::str(one.key)] = parsed(one.value);
        return py::str("Gpu({}, set={})").format(name, set);
      });
  module.def(
      "gpus",
      [] {
        py::list names;
        for (const std::string_view name : cli::device_names()) names.append(py::cast(name));
        return names;
      },
      "gpus()\n\nNames of the GPUs that roofcast ships.");
}

}  // namespace roofcast::python
