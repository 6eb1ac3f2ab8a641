#include "cli/input/distinct_files.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <boost/algorithm/string/classification.hpp>
#include <boost/algorithm/string/split.hpp>

namespace roofcast::cli {
namespace {

constexpr std::string_view kOutput = "output";

struct FileIdentity {
  dev_t device;
  ino_t node;
  friend bool operator==(const FileIdentity&, const FileIdentity&) = default;
};

/// The identity of a regular file, links followed; nothing for others. "-" stands for `descriptor`.
std::optional<FileIdentity> identity(const std::string& path, int descriptor) {
  struct stat status = {};
  const int failed = path == "-" ? fstat(descriptor, &status) : stat(path.c_str(), &status);
  if (failed != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
  return FileIdentity{status.st_dev, status.st_ino};
}

/// The option's value and its parts: --gpu takes a list, --kernel a shape after a colon.
Arguments paths_in(const std::string& value) {
  Arguments paths;
  boost::split(paths, value, boost::is_any_of(",:"));
  paths.push_back(value);
  return paths;
}

bool reads_files(const Option& option) {
  return option.name == "kernel" || option.value_name.find("FILE") != std::string::npos ||
         option.value_name.find("PATH") != std::string::npos;
}

Arguments inputs_of(const Options& options, std::span<const Option> known, const Arguments& words) {
  Arguments inputs = words;
  for (const Option& option : known) {
    const std::string name = option.name.substr(0, option.name.find(','));
    if (name == kOutput || !reads_files(option)) continue;
    for (const std::string& value : options.all(name)) {
      for (std::string& path : paths_in(value)) inputs.push_back(std::move(path));
    }
  }
  return inputs;
}

}  // namespace

void refuse_output_over_input(const Options& options, std::span<const Option> known,
                              const Arguments& words) {
  const std::string output = options.get(kOutput, "-");
  const auto written = identity(output, STDOUT_FILENO);
  if (!written) return;
  for (const std::string& input : inputs_of(options, known, words)) {
    if (identity(input, STDIN_FILENO) != written) continue;
    throw UsageError("{} is {}, which the command reads: choose another file for the output",
                     output == "-" ? "standard output" : "-o " + output,
                     input == "-" ? "standard input" : input);
  }
}

}  // namespace roofcast::cli
