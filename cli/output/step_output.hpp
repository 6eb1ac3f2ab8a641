#pragma once
// One answer about a step of a model as JSON and text.
#include <optional>
#include <string>

#include "cli/output/json_writer.hpp"
#include "cli/output/terminal.hpp"
#include "model/transformer/step.hpp"

namespace roofcast::cli {

struct StepAnswer {
  std::string model;  ///< a name or the path of a configuration
  std::string gpu;
  transformer::Architecture architecture;
  transformer::Task task;
  transformer::Memory memory;
  bool fits = true;
  std::string would_fit;                   ///< a setting that would fit; empty if `fits`
  std::optional<transformer::Step> step;   ///< the forecast; none if refused
  std::string refusal;                     ///< reason for no forecast
  std::optional<double> capacity_bytes{};  ///< DRAM of the GPU; none: unknown
};

/// The memory of a step, and its forecast or the refusal. Throws InputError for an invalid task.
StepAnswer answer_step(const std::string& name, const transformer::Architecture& architecture,
                       const transformer::Task& task, const Gpu& gpu);
/// The same on the GPU of `forecasts`, which keeps forecasts of kernels for other steps.
StepAnswer answer_step(const std::string& name, const transformer::Architecture& architecture,
                       const transformer::Task& task, transformer::KernelForecasts& forecasts);

/// The JSON contract of `roofcast model`, without an end of line.
void write_json(JsonWriter& json, const StepAnswer& answer);
std::string step_text(const StepAnswer& answer, const Style& style);

/// A table of a model's parameters by part.
std::string architecture_text(const std::string& name, const transformer::Architecture& model,
                              const Style& style);

}  // namespace roofcast::cli
