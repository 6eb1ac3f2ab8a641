#pragma once
// The parts of advice that any kernel can have: settings, shapes, the variants of its family.
#include <string>

#include "cli/output/advice_output.hpp"

namespace roofcast::cli {

/// A row for the settings asked for and for each faster one.
std::string settings_text(const AdviceAnswer& answer, const Style& style);
/// Writes the member "settings":{"asked":FORECAST,"faster":[…],"forecasts":…,"every_value":…}.
void write_settings(JsonWriter& json, const AdviceAnswer& answer);

/// The whole advice on a kernel that is no matrix product.
std::string kernel_advice_text(const AdviceAnswer& answer, const Style& style);

}  // namespace roofcast::cli
