#pragma once
// SIGINT and SIGTERM (Slurm's notice) while a sweep runs: drop the case, keep the file, stop.
#include <csignal>
#include <exception>
#include <optional>

namespace roofcast::harness {

/// A signal came while a case was measured.
class Stopped : public std::exception {
 public:
  const char* what() const noexcept override { return "stopped by a signal"; }
};

/// Throws Stopped where a guard lives and a signal came. Cheap: called between samples.
void stop_if_raised();

/// Catches the signals while it lives and gives them back after. One at a time.
class InterruptGuard {
 public:
  InterruptGuard();
  ~InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;

  /// The signal that came, if one did.
  std::optional<int> raised() const;

 private:
  struct sigaction old_int_ {};
  struct sigaction old_term_ {};
};

}  // namespace roofcast::harness
