#include "validation/harness/interrupt.hpp"

namespace roofcast::harness {
namespace {

volatile std::sig_atomic_t signal_raised = 0;

extern "C" void note_signal(int number) {
  signal_raised = number;
}

}  // namespace

InterruptGuard::InterruptGuard() {
  signal_raised = 0;
  struct sigaction action {};
  action.sa_handler = note_signal;
  // A second signal ends the program at once: the file on disk is complete at any moment.
  action.sa_flags = SA_RESETHAND;
  (void)sigaction(SIGINT, &action, &old_int_);
  (void)sigaction(SIGTERM, &action, &old_term_);
}

InterruptGuard::~InterruptGuard() {
  (void)sigaction(SIGINT, &old_int_, nullptr);
  (void)sigaction(SIGTERM, &old_term_, nullptr);
  signal_raised = 0;
}

std::optional<int> InterruptGuard::raised() const {
  const int signal = signal_raised;
  return signal == 0 ? std::nullopt : std::optional(signal);
}

void stop_if_raised() {
  if (signal_raised != 0) throw Stopped();
}

}  // namespace roofcast::harness
