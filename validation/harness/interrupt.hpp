#pragma once
// SIGINT and SIGTERM (Slurm's notice) while a sweep runs: finish the case, keep the file, stop.
#include <csignal>

namespace roofcast::harness {

/// Catches the signals while it lives and gives them back after. One at a time.
class InterruptGuard {
 public:
  InterruptGuard();
  ~InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;

  bool raised() const;

 private:
  struct sigaction old_int_ {};
  struct sigaction old_term_ {};
};

}  // namespace roofcast::harness
