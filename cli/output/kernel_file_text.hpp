#pragma once
// A kernel file (hw_specs/kernel_file.hpp) made from machine code.
#include <string>
#include <string_view>

#include "validation/sass/kernel_report.hpp"

namespace roofcast::cli {

/// JSON for `roofcast predict FILE`: registers, static shared memory, and instructions, FLOPs and
/// bytes of a thread. Figures that the code does not contain (blocks, threads, passes of the
/// largest loops, distinct bytes) are parameters. `source` names the inspected file.
std::string kernel_file_text(const sass::KernelReport& report, std::string_view source);

}  // namespace roofcast::cli
