#include "cli/commands/variants.hpp"
#include "cli/input/kernel_options.hpp"
#include "cli/input/query_fields.hpp"
#include "python/bindings.hpp"
#include "python/field.hpp"
#include "python/result.hpp"

namespace roofcast::python {
namespace py = pybind11;
namespace {

constexpr const char* kDoc =
    "predict(kernel, gpu, *, dtype=None, cache='cold', launch=None, sm_clock_hz=None,\n"
    "        worked_s=None, set=None, **parameters) -> Prediction\n\n"
    "The forecast of a kernel on a GPU, as `roofcast predict` has it.\n\n"
    "kernel       a name that `kernels()` lists, the path of a kernel file, or a Kernel\n"
    "gpu          a name that `gpus()` lists, the path of a specification, or a Gpu\n"
    "parameters   what the kernel takes: Kernel(name).parameters lists it\n"
    "dtype        the element type; default: fp32, or the first that the kernel has\n"
    "cache        'cold', 'warm', 'steady' or 'repeated': what L2 holds at the start\n"
    "launch       'stream', 'graph' or 'pdl'; default: stream, graph where launches are back to "
    "back\n"
    "sm_clock_hz  a measured SM clock (Hz) instead of the expected one\n"
    "worked_s     for how long the device has worked without a pause (s): the power limit then\n"
    "             lowers the clock of busy tensor cores\n"
    "set          {key: value} of the specification; makes the GPU anew, so for many calls give a\n"
    "             Gpu made with it\n\n"
    "None counts as not given. Raises InputError where the question has no answer.";

class Asker {
 public:
  explicit Asker(std::shared_ptr<Names> names) : names_(std::move(names)) {}

  std::unique_ptr<Result> operator()(py::handle kernel_object, py::handle gpu_object,
                                     const py::kwargs& keywords) {
    const KernelRef kernel = names_->kernel(kernel_object);
    auto result = std::make_unique<Result>();
    result->device = names_->device(gpu_object);
    result->itself.kernel = kernel;
    Assumptions assumptions;
    const unsigned given = read(keywords, *result, assumptions);
    const Gpu& gpu = result->device->gpu;
    check(kernel, result->itself.problem, given);
    if (kernel.kernel == nullptr) {
      auto [itself, variants] = answer_of_family(kernel, result->itself.problem, gpu, assumptions);
      result->itself = std::move(itself);
      result->variants = std::move(variants);
    } else {
      result->itself.gpu = &gpu;
      result->itself.prediction.emplace(predict(kernel, result->itself.problem, gpu, assumptions));
    }
    return result;
  }

 private:
  static cli::Answered answer_of_family(const KernelRef& kernel, const Problem& problem,
                                        const Gpu& gpu, const Assumptions& assumptions) {
    cli::Answered found = cli::answered(kernel, problem, gpu, assumptions);
    if (found.refused()) throw InputError(found.itself.refusal);
    return found;
  }

  /// Sets the problem and the assumptions from the keywords; `set` replaces the device. Returns the
  /// bits of the parameters given.
  unsigned read(const py::kwargs& keywords, Result& result, Assumptions& assumptions) {
    const KernelRef& kernel = result.itself.kernel;
    Problem& problem = result.itself.problem;
    problem.dtype = cli::default_dtype(kernel);
    unsigned given = 0;
    for (const auto& [key, value] : keywords) {
      if (value.is_none()) continue;
      if (PyUnicode_CompareWithASCIIString(key.ptr(), "set") == 0) {
        result.device = make_device(result.device->name_or_path, result.device->options, value);
        continue;
      }
      cli::QueryField field;
      read_field(key, value, field);
      if (field.key == "dtype") {
        problem.dtype = cli::read_dtype(cli::text_of(field), kernel);
      } else if (!cli::read_parameter(field, kernel.parameters(), problem, given) &&
                 !cli::read_assumption(field, assumptions)) {
        cli::refuse_unknown(kernel, field.key);
      }
    }
    return given;
  }

  std::shared_ptr<Names> names_;
};

}  // namespace

void bind_predict(py::module_& module, std::shared_ptr<Names> names) {
  module.def("predict", Asker(std::move(names)), kDoc, py::arg("kernel"), py::arg("gpu"));
}

}  // namespace roofcast::python
