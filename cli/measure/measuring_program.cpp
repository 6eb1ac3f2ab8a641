#include "cli/measure/measuring_program.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "cli/output/signals.hpp"

namespace roofcast::cli {

std::filesystem::path beside_program(const std::filesystem::path& link) {
  std::error_code failed;
  const auto self = std::filesystem::read_symlink(link, failed);
  if (failed || !self.is_absolute()) {
    throw NoGpuError(fmt::format("cannot tell where this program is, and so where {} is: {}",
                                 kMeasuringProgram, failed.message()));
  }
  return self.parent_path() / kMeasuringProgram;
}

void become_measuring_program(std::string_view command, const Arguments& arguments) {
  const std::filesystem::path program = beside_program("/proc/self/exe");
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
  stop_if_interrupted();  // the new program would not know of the signal
  execv(program.c_str(), pointers.data());
  throw NoGpuError(fmt::format("cannot start {}: {}", program.string(), std::strerror(errno)));
}

}  // namespace roofcast::cli
