#pragma once
// Runs programs of the CUDA Toolkit and reads their output.
#include <cstddef>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace roofcast::cli {

/// Most bytes that are read from a tool: more is a fault, or too much to wait for.
struct ToolLimits {
  std::size_t output_bytes = std::size_t{8} << 30;
  std::size_t line_bytes = std::size_t{1} << 20;
};

/// cuobjdump in PATH, else in /usr/local/cuda/bin; nvdisasm must be in one of these too. Throws
/// InputError, with the packages to install, where one of the two is missing.
std::filesystem::path find_cuobjdump();

/// Runs the program without a shell, calls `line` with each line of its standard output and waits
/// for its end. Throws InputError where it cannot be started, fails (with the first line of its
/// standard error) or prints more than the limits; Interrupted on a signal. An exception of `line`
/// kills it.
void run_tool(const std::filesystem::path& program, const std::vector<std::string>& arguments,
              const std::function<void(std::string_view)>& line, const ToolLimits& limits = {});

}  // namespace roofcast::cli
