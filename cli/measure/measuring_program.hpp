#pragma once
#include <filesystem>
#include <string_view>

#include "cli/commands/command.hpp"

namespace roofcast::cli {

/// The program, beside this one, that is linked with CUDA. This one is not, so it starts at once
/// and runs where there is no CUDA library.
inline constexpr const char* kMeasuringProgram = "roofcast-measure";

/// The path of the measuring program: beside the file that the link (/proc/self/exe) points to, and
/// nowhere else. Throws NoGpuError where the link cannot be read.
std::filesystem::path beside_program(const std::filesystem::path& link);

/// Replaces this process with the measuring program, which runs the command. Throws NoGpuError
/// where it is not there.
[[noreturn]] void become_measuring_program(std::string_view command, const Arguments& arguments);

}  // namespace roofcast::cli
