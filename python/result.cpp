#include "python/result.hpp"

#include <pybind11/stl.h>

#include <cmath>

#include "cli/output/figures.hpp"
#include "hw_specs/calibration_words.hpp"
#include "model/traffic_ladder.hpp"
#include "model/types/parameter_text.hpp"
#include "python/bindings.hpp"
#include "python/json.hpp"

namespace roofcast::python {

namespace py = pybind11;

const Prediction& Result::prediction() const {
  if (!itself.prediction) throw InputError(itself.refusal);
  return *itself.prediction;
}

namespace {

using Class = py::class_<Result>;

py::str text(std::string_view word) {
  return {word.data(), word.size()};
}

/// The value of the sweep column `title`; None if the answer does not have it.
py::object figure(const Result& result, std::string_view title) {
  for (const cli::Figure& one : cli::figures()) {
    if (one.title != title) continue;
    const double value = one.value(result.prediction());
    return std::isfinite(value) ? py::object(py::float_(value)) : py::none();
  }
  throw py::attribute_error(std::string(title));
}

py::dict problem_of(const Result& result) {
  const KernelRef& kernel = result.itself.kernel;
  const Problem& problem =
      result.itself.prediction ? result.itself.prediction->problem : result.itself.problem;
  py::dict values;
  const auto parameters = kernel.parameters();
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const Parameter& one = parameters[i];
    values[text(one.name)] = is_named(one) ? py::object(text(named_value(one, problem, i)))
                                           : py::object(py::int_(problem[i]));
  }
  values["dtype"] = text(name(problem.dtype));
  return values;
}

using Bytes = double (*)(const Traffic&);

/// {level: bytes}, with "compulsory" last.
py::dict levels(const Result& result, Bytes bytes) {
  py::dict found;
  for (const Rung& rung : traffic_ladder(result.prediction())) {
    found[text(name(rung.level))] = bytes(rung.traffic);
  }
  found["compulsory"] = bytes(result.prediction().work.compulsory);
  return found;
}

py::dict seconds(const ByResource& terms) {
  py::dict found;
  for (std::size_t i = 0; i < kResources; ++i) {
    if (terms.at(i) > 0) found[text(name(static_cast<Resource>(i)))] = terms.at(i);
  }
  return found;
}

py::dict waterfall(const Forecast& time) {
  py::dict found;
  for (std::size_t i = 0; i < kParts; ++i) {
    const Part part = static_cast<Part>(i);
    if (time.waterfall[part] > 0) found[text(name(part))] = time.waterfall[part];
  }
  return found;
}

std::string json_text(const Result& result) {
  return written(
      [&](cli::JsonWriter& json) { cli::write_json(json, result.itself, result.variants); });
}

/// The table that `roofcast predict` prints.
std::string table_text(const Result& result) {
  const cli::Style style(false);
  std::string shown;
  if (result.itself.prediction) {
    shown = cli::answer_text({result.itself.kernel, result.device->gpu, *result.itself.prediction},
                             style);
  }
  if (result.variants.empty()) return shown;
  return shown + "\n" + cli::candidates_text(result.variants, false, style);
}

std::string brief(const Result& result) {
  const Prediction& found = result.prediction();
  const std::string question =
      fmt::format("<roofcast.Prediction {} {} on {}: ", result.itself.kernel.name(),
                  cli::problem_text(result.itself.kernel, found.problem), result.device->gpu.name);
  if (!found.time) return question + fmt::format("limit {:.4g} s>", found.limit.time_s);
  return question +
         fmt::format("{:.4g} s, {}>", found.time->expected_s, name(binding(found.time->terms)));
}

/// Adds a property that is also a column of a sweep.
void add_figure(Class& type, const char* property, const char* title, const char* meaning) {
  type.def_property_readonly(
      property, [title](const Result& result) { return figure(result, title); }, meaning);
}

void add_question(Class& type) {
  type.def_property_readonly(
          "kernel", [](const Result& result) { return text(result.itself.kernel.name()); },
          "Name of the kernel.")
      .def_property_readonly(
          "gpu", [](const Result& result) { return result.device; }, "The Gpu.")
      .def_property_readonly("problem", &problem_of,
                             "Every parameter and dtype, with the settings that the model chose.");
}

void add_time(Class& type) {
  add_figure(type, "time_s", "expected_s", "Expected time (s); None for a family.");
  add_figure(type, "limit", "limit_s", "Lower bound of the time (s): no launch is shorter.");
  type.def_property_readonly(
          "interval",
          [](const Result& result) -> py::object {
            const auto& time = result.prediction().time;
            return time ? py::object(py::make_tuple(time->low_s, time->high_s)) : py::none();
          },
          "(low, high) (s): holds 90% of measurements; None for a family.")
      .def_property_readonly(
          "bound",
          [](const Result& result) -> py::object {
            const auto& time = result.prediction().time;
            return time ? py::object(text(name(binding(time->terms)))) : py::none();
          },
          "What binds the expected time, such as 'dram' or 'tensor'; None for a family.")
      .def_property_readonly(
          "limit_bound",
          [](const Result& result) { return text(name(binding(result.prediction().limit.terms))); },
          "What binds the limit.")
      .def_property_readonly(
          "terms",
          [](const Result& result) {
            const auto& time = result.prediction().time;
            return time ? seconds(time->terms) : py::dict();
          },
          "{resource: s}: what each alone would take. Empty for a family.")
      .def_property_readonly(
          "waterfall",
          [](const Result& result) {
            const auto& time = result.prediction().time;
            return time ? waterfall(*time) : py::dict();
          },
          "{part: s}: they add up to time_s. Empty for a family.");
  add_figure(type, "sm_cycles", "sm_cycles", "Expected time in cycles of the SMs.");
  add_figure(type, "sm_clock_hz", "sm_clock_hz", "Expected clock of the SMs (Hz).");
}

void add_work(Class& type) {
  add_figure(type, "flops", "flops", "FLOP; a fused multiply-add counts 2.");
  add_figure(type, "flops_per_s", "flops_per_s", "Useful FLOP/s in the expected time.");
  add_figure(type, "dram_bytes_per_s", "dram_bytes_per_s", "DRAM traffic (B/s).");
  add_figure(type, "fraction_of_limit", "fraction_of_limit", "limit / time_s.");
  add_figure(type, "io_lower_bound_bytes", "io_lower_bound_bytes",
             "Bytes that must cross into the fast memory (B).");
  add_figure(type, "shared_bytes", "shared_bytes", "Through shared memory, both ways (B).");
  type.def_property_readonly(
          "bytes",
          [](const Result& result) {
            return levels(result, [](const Traffic& one) { return one.total_bytes(); });
          },
          "{level: B}, read and written: 'requested', 'l1', 'l2', 'dram', 'compulsory'.\n"
          "For a family 'compulsory' alone.")
      .def_property_readonly(
          "read_bytes",
          [](const Result& result) {
            return levels(result, [](const Traffic& one) { return one.read_bytes; });
          },
          "{level: B} read.")
      .def_property_readonly(
          "write_bytes",
          [](const Result& result) {
            return levels(result, [](const Traffic& one) { return one.write_bytes; });
          },
          "{level: B} written.");
}

void add_launch(Class& type) {
  type.def_property_readonly(
          "launch", [](const Result& result) { return result.prediction().launch; },
          "The Launch; None for a family.")
      .def_property_readonly(
          "occupancy", [](const Result& result) { return result.prediction().occupancy; },
          "The Occupancy; None for a family and where the GPU's rules are unknown.")
      .def_property_readonly(
          "waves", [](const Result& result) { return result.prediction().waves; },
          "The Waves; None for a family and where the GPU's rules are unknown.");
}

void add_outputs(Class& type) {
  type.def_property_readonly(
          "notes", [](const Result& result) { return result.prediction().notes; },
          "What to know of this forecast, such as values outside the validated range.")
      .def_property_readonly(
          "calibration",
          [](const Result& result) { return specs::calibration_word(result.device->gpu); },
          "Where the GPU's sustained values come from, in a word or two.")
      .def_property_readonly(
          "variants",
          [](const Result& result) {
            py::list found;
            for (const cli::Candidate& one : result.variants) {
              if (one.prediction) found.append(Result{result.device, one, {}});
            }
            return found;
          },
          "Of a family: the Prediction of each variant that has one.")
      .def("to_json", &json_text,
           "to_json()\n\nWhat `roofcast predict --format json` prints for the question.")
      .def(
          "to_dict", [](const Result& result) { return parsed(json_text(result)); },
          "to_dict()\n\nThe same as a dict; docs/library.md and the command name the keys.")
      .def("__str__", &table_text)
      .def("__repr__", &brief);
}

}  // namespace

void bind_result(py::module_& module) {
  bind_launch(module);
  Class type(module, "Prediction",
             "The forecast of one kernel, problem and GPU. str() of it is the table that\n"
             "`roofcast predict` prints. Times are in s, traffic in B, rates in FLOP/s and B/s.");
  add_question(type);
  add_time(type);
  add_work(type);
  add_launch(type);
  add_outputs(type);
}

}  // namespace roofcast::python
