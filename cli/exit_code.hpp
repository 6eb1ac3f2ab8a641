#pragma once
#include <fmt/format.h>

#include <exception>
#include <stdexcept>
#include <utility>

namespace roofcast::cli {

enum class ExitCode : int {
  done = 0,
  out_of_tolerance = 1,
  usage = 2,      ///< the command line could not be understood
  bad_input = 3,  ///< a value, a file or a specification is wrong
  no_gpu = 4,
  internal = 5,
  interrupted = 130,  ///< 128 + SIGINT, as a shell reports it
  broken_pipe = 141,  ///< 128 + SIGPIPE: the reader of the output went away
  terminated = 143    ///< 128 + SIGTERM
};

/// The command line cannot be understood: the message says what was expected.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
  /// The message as fmt::format makes it.
  template <class First, class... Rest>
  UsageError(fmt::format_string<First, Rest...> text, First&& first, Rest&&... rest)
      : runtime_error(fmt::format(text, std::forward<First>(first), std::forward<Rest>(rest)...)) {}
};

/// The command needs a GPU and there is none it can use.
class NoGpuError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Output that could not be written in full (disk full, I/O error).
class WriteError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// SIGINT or SIGTERM came: unwinds, so that half-written files are removed.
class Interrupted : public std::exception {
 public:
  const char* what() const noexcept override { return "interrupted"; }
};

/// The help was asked for and is written: nothing is left to do.
class HelpShown : public std::exception {
 public:
  const char* what() const noexcept override { return "the help was shown"; }
};

}  // namespace roofcast::cli
