#pragma once
#include <string_view>

#include "cli/commands/command.hpp"

namespace roofcast::cli {

/// The program beside this one that is linked with CUDA. This one is not: it starts at once, and
/// where there is no CUDA library.
inline constexpr const char* kMeasuringProgram = "roofcast-measure";

/// Becomes that program, which runs the command. Throws NoGpuError where it is not there.
[[noreturn]] void become_measuring_program(std::string_view command, const Arguments& arguments);

}  // namespace roofcast::cli
