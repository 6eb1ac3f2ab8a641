#pragma once
// Programs of the CUDA Toolkit that this one runs, and what they print.
#include <cstddef>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace roofcast::cli {

/// Limits of what is read: more is a fault, or too much to wait for.
struct ToolLimits {
  std::size_t output_bytes = std::size_t{8} << 30;
  std::size_t line_bytes = std::size_t{1} << 20;
};

/// cuobjdump in PATH, else in /usr/local/cuda/bin; it needs nvdisasm beside it or there. Throws
/// InputError naming the packages where one of them is missing.
std::filesystem::path find_cuobjdump();

/// Runs the program without a shell, waits for its end, and gives its standard output line by line.
/// Throws InputError where it cannot be started, ends with an error (with what it said) or prints
/// more than the limits; Interrupted on a signal. The program is ended if a line is refused.
void run_tool(const std::filesystem::path& program, const std::vector<std::string>& arguments,
              const std::function<void(std::string_view)>& line, const ToolLimits& limits = {});

}  // namespace roofcast::cli
