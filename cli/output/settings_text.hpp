#pragma once
// The parts of advice that any kernel has: its settings, its shapes, the variants of its family.
#include <string>

#include "cli/output/advice_output.hpp"

namespace roofcast::cli {

/// The settings asked for and those that are faster, one row each.
std::string settings_text(const AdviceAnswer& answer, const Style& style);
/// "settings":{"asked":FORECAST,"faster":[…],"forecasts":…,"every_value":…}, a member of an object.
void write_settings(JsonWriter& json, const AdviceAnswer& answer);

/// All of the advice on a kernel that is no matrix product.
std::string kernel_advice_text(const AdviceAnswer& answer, const Style& style);

}  // namespace roofcast::cli
