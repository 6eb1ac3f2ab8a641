#pragma once
// SIGINT and SIGTERM (Slurm's notice) during a sweep: drops the current case, keeps the file,
// stops.
#include <csignal>
#include <exception>
#include <optional>

namespace roofcast::harness {

/// A signal arrived while a case was measured.
class Stopped : public std::exception {
 public:
  const char* what() const noexcept override { return "stopped by a signal"; }
};

/// Throws Stopped if a signal arrived during an InterruptGuard's lifetime. Cheap: called between
/// samples.
void stop_if_raised();

/// Catches the signals during its lifetime and then restores their handlers. One at a time.
class InterruptGuard {
 public:
  InterruptGuard();
  ~InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;

  /// The signal that arrived, if any.
  std::optional<int> raised() const;

 private:
  struct sigaction old_int_ {};
  struct sigaction old_term_ {};
};

}  // namespace roofcast::harness
