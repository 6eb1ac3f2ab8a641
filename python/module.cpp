// The package's extension module _core: the model's types and functions for Python.
#include "cli/exit_code.hpp"
#include "python/bindings.hpp"

namespace roofcast::python {

void bind_errors(pybind11::module_& module) {
  namespace py = pybind11;
  static py::exception<InputError> error(module, "InputError", PyExc_ValueError);
  error.attr("__doc__") =
      "A question without an answer: an unknown name, a value out of range, a file that breaks a\n"
      "rule. The message says what was expected and what to do.";
  py::register_exception_translator([](std::exception_ptr thrown) {
    try {
      if (thrown) std::rethrow_exception(thrown);
    } catch (const InputError& found) {
      error(found.what());
    } catch (const cli::UsageError& found) {
      error(found.what());
    }
  });
}

}  // namespace roofcast::python

PYBIND11_MODULE(_core, module) {
  using namespace roofcast::python;
  pybind11::options options;
  options.disable_function_signatures();
  const auto names = std::make_shared<Names>();
  bind_errors(module);
  bind_kernel(module);
  bind_device(module);
  bind_result(module);
  bind_predict(module, names);
  bind_models(module, names);
  bind_sweep(module, names);
}
