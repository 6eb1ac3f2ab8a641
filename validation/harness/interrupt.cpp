#include "validation/harness/interrupt.hpp"

namespace roofcast::harness {
namespace {

volatile std::sig_atomic_t signal_raised = 0;

extern "C" void note_signal(int /*number*/) {
  signal_raised = 1;
}

}  // namespace

InterruptGuard::InterruptGuard() {
  signal_raised = 0;
  struct sigaction action {};
  action.sa_handler = note_signal;
  // A second signal ends the program at once: the file on disk is whole at any moment.
  action.sa_flags = SA_RESETHAND;
  (void)sigaction(SIGINT, &action, &old_int_);
  (void)sigaction(SIGTERM, &action, &old_term_);
}

InterruptGuard::~InterruptGuard() {
  (void)sigaction(SIGINT, &old_int_, nullptr);
  (void)sigaction(SIGTERM, &old_term_, nullptr);
}

bool InterruptGuard::raised() const {
  return signal_raised != 0;
}

}  // namespace roofcast::harness
