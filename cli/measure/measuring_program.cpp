#include "cli/measure/measuring_program.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

namespace roofcast::cli {
namespace {

std::filesystem::path measuring_program() {
  std::error_code ignored;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", ignored);
  return self.parent_path() / kMeasuringProgram;
}

}  // namespace

void become_measuring_program(std::string_view command, const Arguments& arguments) {
  const std::filesystem::path program = measuring_program();
  std::error_code ignored;
  if (!std::filesystem::exists(program, ignored)) {
    throw NoGpuError(fmt::format(
        "{} is not beside this program, so it cannot measure: build with the CUDA Toolkit "
        "(cmake -DROOFCAST_CUDA=ON), and keep the two together",
        kMeasuringProgram));
  }
  std::vector<std::string> words = {program.string(), std::string(command)};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> pointers;
  pointers.reserve(words.size() + 1);
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  execv(program.c_str(), pointers.data());
  throw NoGpuError(fmt::format("cannot start {}: {}", program.string(), std::strerror(errno)));
}

}  // namespace roofcast::cli
