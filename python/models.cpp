#include "cli/commands/collective.hpp"
#include "cli/input/query_fields.hpp"
#include "cli/input/task.hpp"
#include "cli/output/step_output.hpp"
#include "python/bindings.hpp"
#include "python/field.hpp"
#include "python/json.hpp"

namespace roofcast::python {
namespace py = pybind11;
namespace {

constexpr const char* kModelDoc =
    "model(name, gpu, **task) -> dict\n\n"
    "A step of a whole model, as `roofcast model … --format json` has it; times in s, memory in "
    "B.\n\n"
    "name   a shipped name, or the path of a config.json\n"
    "gpu    a name that `gpus()` lists, the path of a specification, or a Gpu\n"
    "task   phase='train', 'prefill' or 'decode', batch, seq, context, dtype, tp, dp, fsdp, ep,\n"
    "       framework, checkpointing, grad_accum … as the members of a line of\n"
    "       `roofcast predict --queries`\n\n"
    "'time' is None where the step has no forecast, and 'notes' says why. Raises InputError for a\n"
    "task that the model does not have.";

constexpr const char* kCollectiveDoc =
    "collective(name, gpu, *, bytes, gpus) -> dict\n\n"
    "A collective among GPUs of one NVLink switch, as `roofcast predict collective.all_reduce\n"
    "--format json` has it; times in s.\n\n"
    "name   'collective.all_reduce', all_gather, reduce_scatter or alltoall\n"
    "bytes  of a rank's input, of all_gather the result (B)\n"
    "gpus   GPUs that take part\n\n"
    "Raises InputError where there is no forecast.";

template <class Read>
void read_fields(const py::kwargs& keywords, const Read& read) {
  for (const auto& [key, value] : keywords) {
    if (value.is_none()) continue;
    cli::QueryField field;
    read_field(key, value, field);
    read(field);
  }
}

py::object model(Names& names, py::handle name, py::handle gpu, const py::kwargs& keywords) {
  const std::string name_or_path = text_of(name, "a model");
  transformer::Task task;
  read_fields(keywords, [&](const cli::QueryField& field) { cli::read_task_field(field, task); });
  cli::check_given(task);
  const auto device = names.device(gpu);
  const cli::StepAnswer answer =
      cli::answer_step(name_or_path, cli::model_named(name_or_path), task, device->gpu);
  return parsed(written([&](cli::JsonWriter& json) { cli::write_json(json, answer); }));
}

py::object collective(Names& names, py::handle name, py::handle gpu, const py::kwargs& keywords) {
  transformer::Transfer question{cli::collective_named(text_of(name, "a collective")), 0, 0};
  read_fields(keywords,
              [&](const cli::QueryField& field) { cli::read_collective_field(field, question); });
  const auto device = names.device(gpu);
  return parsed(written([&](cli::JsonWriter& json) { write_json(json, question, device->gpu); }));
}

}  // namespace

void bind_models(py::module_& module, std::shared_ptr<Names> names) {
  module.def(
      "model",
      [names](py::handle name, py::handle gpu, const py::kwargs& keywords) {
        return model(*names, name, gpu, keywords);
      },
      kModelDoc, py::arg("name"), py::arg("gpu"));
  module.def(
      "collective",
      [names](py::handle name, py::handle gpu, const py::kwargs& keywords) {
        return collective(*names, name, gpu, keywords);
      },
      kCollectiveDoc, py::arg("name"), py::arg("gpu"));
}

}  // namespace roofcast::python
