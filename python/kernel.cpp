#include "cli/input/kernel_options.hpp"
#include "cli/output/answer.hpp"
#include "cli/output/kernel_json.hpp"
#include "hw_specs/kernel_file.hpp"
#include "python/bindings.hpp"
#include "python/json.hpp"

namespace roofcast::python {
namespace py = pybind11;
namespace {

KernelRef kernel_asked(const py::args& words, const py::kwargs& members) {
  if (words.size() == 1 && members.empty()) return cli::kernel_named(text_of(words[0], "a kernel"));
  if (words.empty() && !members.empty()) return specs::load_kernel("Kernel(…)", dumped(members));
  throw InputError(
      "Kernel takes one name or path, or the members of a kernel file by keyword: name, launch, "
      "work, …");
}

py::dict described(const KernelRef& kernel) {
  return parsed(written([&](cli::JsonWriter& json) { cli::write_kernel(json, kernel); }));
}

py::str name_of(const KernelRef& kernel) {
  const std::string_view name = kernel.name();
  return {name.data(), name.size()};
}

}  // namespace

void bind_kernel(py::module_& module) {
  py::class_<KernelRef>(
      module, "Kernel",
      "Kernel(name_or_path)\n"
      "Kernel(*, name, launch, work, parameters=…, arrays=…, dtypes=…, phases=…, summary=…)\n\n"
      "A kernel: one that `kernels()` lists, one that a file NAME.json describes, or one that the\n"
      "keywords describe as such a file would. hw_specs/kernel.schema.json explains each member;\n"
      "values are numbers or expressions over the parameters.\n\n"
      "Raises InputError for an unknown name and for a description that breaks a rule.")
      .def(py::init(&kernel_asked))
      .def_property_readonly("name", &name_of, "As in forecasts.")
      .def_property_readonly(
          "summary", [](const KernelRef& kernel) { return std::string(cli::summary(kernel)); },
          "What it computes, in one line.")
      .def_property_readonly(
          "dtypes", [](const KernelRef& kernel) { return py::list(described(kernel)["dtypes"]); },
          "Element types that it takes.")
      .def_property_readonly(
          "parameters",
          [](const KernelRef& kernel) { return py::list(described(kernel)["parameters"]); },
          "A dict each: name, meaning with the unit, minimum and maximum or choices, default.")
      .def("to_dict", &described,
           "to_dict()\n\nWhat `roofcast kernels NAME --format json` prints of it.")
      .def("__repr__",
           [](const KernelRef& kernel) { return py::str("Kernel({!r})").format(name_of(kernel)); });
  module.def(
      "kernels",
      [] {
        py::list names;
        for (const KernelFamily& family : catalog()) {
          names.append(name_of({&family, nullptr}));
          for (const KernelModel& kernel : family.variants)
            names.append(name_of({&family, &kernel}));
        }
        return names;
      },
      "kernels()\n\nNames of the kernels: each family ('gemm'), then its variants "
      "('gemm.tiled').");
}

}  // namespace roofcast::python
