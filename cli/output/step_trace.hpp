#pragma once
// A step as a trace in the Trace Event Format, which Perfetto and chrome://tracing open.
#include <string>

#include "cli/output/step_output.hpp"

namespace roofcast::cli {

/// The last pass of the step and the operations that come once a step. Tracks: layers, operations
/// with their kernels, and transfers if there are any; times are in µs. InputError where the step
/// has no forecast.
std::string step_trace(const StepAnswer& answer);

}  // namespace roofcast::cli
