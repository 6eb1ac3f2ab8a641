#pragma once
#include <string>
#include <string_view>

namespace roofcast::cli {

/// Emphasis for a terminal; plain text elsewhere and under NO_COLOR (no-color.org).
class Style {
 public:
  explicit Style(bool colour) : colour_(colour) {}
  static Style of_standard_output();

  std::string heading(std::string_view text) const { return wrap("1", text); }
  std::string binding(std::string_view text) const { return wrap("1;33", text); }
  std::string bad(std::string_view text) const { return wrap("31", text); }
  std::string faint(std::string_view text) const { return wrap("2", text); }

 private:
  std::string wrap(std::string_view code, std::string_view text) const;
  bool colour_;
};

/// Standard error: a bar on a terminal, a line each tenth elsewhere.
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

/// "roofcast: warning: …" on standard error.
void warn(std::string_view message);

/// Ctrl-C and SIGTERM ask the work to stop; a broken pipe becomes a write error.
void catch_signals();
/// Throws Interrupted once a signal came.
void stop_if_interrupted();

}  // namespace roofcast::cli
