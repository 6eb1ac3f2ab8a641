#include "cli/output/terminal.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

#include "cli/output/visible_text.hpp"
#include "validation/runs/numbers.hpp"

namespace roofcast::cli {
namespace {

std::string_view environment(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? std::string_view(value) : std::string_view();
}

bool is_dumb_terminal() {
  const std::string_view term = environment("TERM");
  return term.empty() || term == "dumb";
}

/// The width in columns: COLUMNS as a shell exports it, else the terminal's, else unlimited.
std::size_t standard_output_width() {
  const auto columns = validation::number_of<std::size_t>(environment("COLUMNS"));
  if (columns && *columns > 0) return *columns;
  winsize size = {};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  return Style::kAnyWidth;
}

}  // namespace

Style Style::of_standard_output() {
  const bool colour =
      isatty(STDOUT_FILENO) != 0 && environment("NO_COLOR").empty() && !is_dumb_terminal();
  return Style(colour, standard_output_width());
}

Style Style::of_output(const std::optional<std::string>& path) {
  return path ? Style(false) : of_standard_output();
}

std::string Style::wrap(std::string_view code, std::string_view text) const {
  return colour_ ? fmt::format("\x1b[{}m{}\x1b[0m", code, text) : std::string(text);
}

Progress::Progress(std::string_view what)
    : what_(visible(what)), terminal_(isatty(STDERR_FILENO) != 0 && !is_dumb_terminal()) {}

Progress::~Progress() {
  if (drawn_) write_error_stream("\n");
}

void Progress::update(std::size_t done, std::size_t total, std::string_view now) {
  if (total == 0) return;
  if (terminal_) {
    constexpr std::size_t kCells = 30;
    const std::size_t full = kCells * done / total;
    write_error_stream(fmt::format("\r\x1b[K{} [{:#<{}}{:.<{}}] {}/{} {}", what_, "", full, "",
                                   kCells - full, done, total, visible(now)));
    drawn_ = true;
    return;
  }
  constexpr std::size_t kTenths = 10;
  const std::size_t tenth = kTenths * done / total;
  if (tenth == last_tenth_) return;
  last_tenth_ = tenth;
  tell(fmt::format("{}: {}/{} {}", what_, done, total, now));
}

void tell(std::string_view line) {
  write_error_stream(visible(line) + '\n');
}

void warn(std::string_view message) {
  tell(fmt::format("roofcast: warning: {}", message));
}

void write_error_stream(std::string_view text) {
  while (!text.empty()) {
    const ssize_t wrote = ::write(STDERR_FILENO, text.data(), text.size());
    if (wrote < 0 && errno != EINTR) return;
    if (wrote > 0) text.remove_prefix(static_cast<std::size_t>(wrote));
  }
}

}  // namespace roofcast::cli
