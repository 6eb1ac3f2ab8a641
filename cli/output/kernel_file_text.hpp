#pragma once
// A kernel file (hw_specs/kernel_file.hpp) from what machine code says.
#include <string>
#include <string_view>

#include "validation/sass/kernel_report.hpp"

namespace roofcast::cli {

/// JSON for `roofcast predict FILE`. Registers, static shared memory, and instructions, FLOPs and
/// bytes of a thread with a parameter for the passes of each loop; what the code cannot tell
/// (blocks, threads, passes, distinct bytes) has to be given. `source` names the file that was
/// inspected.
std::string kernel_file_text(const sass::KernelReport& report, std::string_view source);

}  // namespace roofcast::cli
