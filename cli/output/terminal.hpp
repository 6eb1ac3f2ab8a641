#pragma once
#include <cstddef>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include "cli/output/signals.hpp"

namespace roofcast::cli {

/// The style of text: emphasis on a terminal, plain elsewhere and under NO_COLOR (no-color.org). A
/// table is at most as wide as COLUMNS or the terminal; without both, as wide as its text.
class Style {
 public:
  static constexpr std::size_t kAnyWidth = std::numeric_limits<std::size_t>::max();

  explicit Style(bool colour, std::size_t width = kAnyWidth) : colour_(colour), width_(width) {}
  static Style of_standard_output();
  /// That of standard output without a path, else plain.
  static Style of_output(const std::optional<std::string>& path);

  /// Columns a line may take.
  std::size_t width() const { return width_; }
  std::string heading(std::string_view text) const { return wrap("1", text); }
  std::string binding(std::string_view text) const { return wrap("1;33", text); }
  std::string bad(std::string_view text) const { return wrap("31", text); }
  std::string faint(std::string_view text) const { return wrap("2", text); }

 private:
  std::string wrap(std::string_view code, std::string_view text) const;
  bool colour_;
  std::size_t width_;
};

/// Shows progress on standard error: a bar on a terminal, elsewhere a line at each tenth.
class Progress {
 public:
  explicit Progress(std::string_view what);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress(Progress&&) = delete;
  Progress& operator=(const Progress&) = delete;
  Progress& operator=(Progress&&) = delete;
  void update(std::size_t done, std::size_t total, std::string_view now);

 private:
  std::string what_;
  bool terminal_;
  bool drawn_ = false;
  std::size_t last_tenth_ = 0;
};

/// Writes a line to standard error, control characters as escapes. Where standard error fails
/// (closed, full, its reader gone) the line is lost and the work goes on.
void tell(std::string_view line);
/// "roofcast: warning: …" in the same way.
void warn(std::string_view message);
/// Writes text of this program's own to standard error, without escapes.
void write_error_stream(std::string_view text);

}  // namespace roofcast::cli
