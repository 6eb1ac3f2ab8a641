#pragma once
// One answer about a model, and the ways to print it.
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
  std::string would_fit;                   ///< what would; empty where it fits
  std::optional<transformer::Step> step;   ///< none where the step has no forecast
  std::string refusal;                     ///< why it has none
  std::optional<double> capacity_bytes{};  ///< of the GPU's memory
};

/// The forecast, and the refusal where the step has none: memory is answered in any case.
StepAnswer answer_step(const std::string& name, const transformer::Architecture& architecture,
                       const transformer::Task& task, const Gpu& gpu);
/// The same on their GPU, with forecasts of kernels that other steps share.
StepAnswer answer_step(const std::string& name, const transformer::Architecture& architecture,
                       const transformer::Task& task, transformer::KernelForecasts& forecasts);

/// The JSON contract of `roofcast model`, without an end of line.
void write_json(JsonWriter& json, const StepAnswer& answer);
std::string step_text(const StepAnswer& answer, const Style& style);

/// Parameters by part, and FLOPs of a token, of a model alone.
std::string architecture_text(const std::string& name, const transformer::Architecture& model,
                              const Style& style);

}  // namespace roofcast::cli
