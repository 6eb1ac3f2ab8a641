// Whatever stands on the command line, the program answers or refuses it: no crash, no internal
// error. The input has one argument a line; nothing is opened or written, and no program is
// started.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "cli/commands/command.hpp"

namespace {

using roofcast::cli::Arguments;
using roofcast::cli::ExitCode;

constexpr std::array<std::string_view, 7> kCommands = {"predict", "sweep", "advise", "compare",
                                                       "kernels", "gpus",  "show"};

/// Whether the argument may name a file, a device or standard input: such inputs are left out.
bool names_a_file(std::string_view argument) {
  return argument == "-" || argument.find('/') != std::string_view::npos ||
         argument.find(".json") != std::string_view::npos || argument.starts_with("-o") ||
         argument.starts_with("--output") || argument.starts_with("--queries") ||
         argument.starts_with("--run") || argument.starts_with("--overlay") ||
         argument.starts_with("--table") || argument.starts_with("--price") ||
         argument.starts_with("--kernel-file");
}

/// Whether the argument lists so many values that the run is merely slow, which is no fault.
bool is_long(std::string_view argument) {
  constexpr std::ptrdiff_t kMostParts = 8;
  constexpr std::size_t kMostDigits = 2;
  if (std::count(argument.begin(), argument.end(), ',') > kMostParts) return true;
  if (argument.find(':') == std::string_view::npos) return false;
  std::size_t digits = 0;
  for (const char c : argument) {
    digits = std::isdigit(static_cast<unsigned char>(c)) != 0 ? digits + 1 : 0;
    if (digits > kMostDigits || c == 'e' || c == 'E') return true;
  }
  return false;
}

Arguments arguments_of(std::string_view text) {
  Arguments arguments;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    arguments.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return arguments;
}

bool is_allowed(const Arguments& arguments) {
  constexpr std::ptrdiff_t kMostLists = 2;
  if (arguments.empty() ||
      std::find(kCommands.begin(), kCommands.end(), arguments.front()) == kCommands.end()) {
    return false;
  }
  const auto is_list = [](const std::string& a) { return a.find_first_of(":,") != a.npos; };
  return std::none_of(arguments.begin(), arguments.end(), names_a_file) &&
         std::none_of(arguments.begin(), arguments.end(), is_long) &&
         std::count_if(arguments.begin(), arguments.end(), is_list) <= kMostLists;
}

}  // namespace

// The answers go nowhere, and so do the refusals: libFuzzer keeps the real standard error.
extern "C" int LLVMFuzzerInitialize(int* count, char*** arguments) {
  static std::array<char*, 64> extended{};
  static char close_streams[] = "-close_fd_mask=3";
  const auto given = static_cast<std::size_t>(*count);
  if (given + 2 > extended.size()) std::abort();
  std::copy_n(*arguments, given, extended.begin());
  extended[given] = close_streams;
  *arguments = extended.data();
  ++*count;
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const Arguments arguments =
      arguments_of(std::string_view(reinterpret_cast<const char*>(data), size));
  if (!is_allowed(arguments)) return 0;
  if (roofcast::cli::run(arguments) == ExitCode::internal) std::abort();
  return 0;
}
