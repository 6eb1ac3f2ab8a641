#pragma once
#include <span>
#include <string>

#include "cli/commands/sensitivity.hpp"
#include "cli/output/answer.hpp"
#include "cli/output/formulas.hpp"

namespace roofcast::cli {

/// Text on the parts of the time, each resource's amount ÷ rate, the blocks over the SMs, and the
/// values of the GPU that the time depends on.
std::string explanation_text(const Answer& answer, std::span<const Formula> formulas,
                             std::span<const Sensitivity> sensitivities, const Style& style);

/// {"prediction":…,"formulas":[{"resource":…,"amount":…}],
/// "sensitivities":[{"key":…,"value":…,"larger":…,"change":…,"source":…}]}, the prediction as
/// `predict` writes it.
void write_explanation(JsonWriter& json, const Answer& answer, std::span<const Formula> formulas,
                       std::span<const Sensitivity> sensitivities);

}  // namespace roofcast::cli
