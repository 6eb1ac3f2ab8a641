#include "cli/output/terminal.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>

#include "cli/exit_code.hpp"

namespace roofcast::cli {
namespace {

volatile std::sig_atomic_t signal_came = 0;

bool environment_has(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr && *value != '\0';
}

bool is_dumb_terminal() {
  const char* term = std::getenv("TERM");
  return term == nullptr || std::string_view(term) == "dumb";
}

}  // namespace

Style Style::of_standard_output() {
  return Style(isatty(STDOUT_FILENO) != 0 && !environment_has("NO_COLOR") && !is_dumb_terminal());
}

std::string Style::wrap(std::string_view code, std::string_view text) const {
  return colour_ ? fmt::format("\x1b[{}m{}\x1b[0m", code, text) : std::string(text);
}

Progress::Progress(std::string_view what)
    : what_(what), terminal_(isatty(STDERR_FILENO) != 0 && !is_dumb_terminal()) {}

Progress::~Progress() {
  if (drawn_) std::fputs("\n", stderr);
}

void Progress::update(std::size_t done, std::size_t total, std::string_view now) {
  if (total == 0) return;
  if (terminal_) {
    constexpr std::size_t kCells = 30;
    const std::size_t full = kCells * done / total;
    fmt::print(stderr, "\r\x1b[K{} [{:#<{}}{:.<{}}] {}/{} {}", what_, "", full, "", kCells - full,
               done, total, now);
    std::fflush(stderr);
    drawn_ = true;
    return;
  }
  constexpr std::size_t kTenths = 10;
  const std::size_t tenth = kTenths * done / total;
  if (tenth == last_tenth_) return;
  last_tenth_ = tenth;
  fmt::print(stderr, "{}: {}/{} {}\n", what_, done, total, now);
}

void warn(std::string_view message) {
  fmt::print(stderr, "roofcast: warning: {}\n", message);
}

void catch_signals() {
  struct sigaction stop = {};
  stop.sa_handler = [](int) { signal_came = 1; };
  sigemptyset(&stop.sa_mask);
  // No SA_RESTART: a read that waits for input must return.
  sigaction(SIGINT, &stop, nullptr);
  sigaction(SIGTERM, &stop, nullptr);
  std::signal(SIGPIPE, SIG_IGN);
}

void stop_if_interrupted() {
  if (signal_came != 0) throw Interrupted();
}

}  // namespace roofcast::cli
