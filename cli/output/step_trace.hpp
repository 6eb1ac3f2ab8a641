#pragma once
// A step as a trace in the Trace Event Format, which Perfetto and chrome://tracing open.
#include <string>

#include "cli/output/step_output.hpp"

namespace roofcast::cli {

/// One pass and what comes once a step: a track of layers, and one of operations with their
/// kernels. Times in µs. Throws InputError where the step has no forecast.
std::string step_trace(const StepAnswer& answer);

}  // namespace roofcast::cli
