#include "cli/output/signals.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <csignal>
#include <ctime>

namespace roofcast::cli {
namespace {

constexpr int kSignalCodes = 128;
constexpr long kTickNanoseconds = 100'000'000;
constexpr int kPatienceTicks = 7;

volatile std::sig_atomic_t stop_signal = 0;
volatile std::sig_atomic_t pipe_broken = 0;
volatile std::sig_atomic_t ticks = 0;
timer_t ticker = {};
bool has_ticker = false;

/// Interrupts blocking calls that began just after the first signal; after kPatienceTicks ends a
/// program that has not reacted to it.
extern "C" void on_tick(int /*number*/) {
  ticks = ticks + 1;
  if (ticks >= kPatienceTicks) _exit(kSignalCodes + stop_signal);
}

extern "C" void on_stop(int number) {
  if (stop_signal != 0) return;
  stop_signal = number;
  const itimerspec every = {{0, kTickNanoseconds}, {0, kTickNanoseconds}};
  if (has_ticker) timer_settime(ticker, 0, &every, nullptr);
}

extern "C" void on_broken_pipe(int /*number*/) {
  pipe_broken = 1;
}

void handle(int number, void (*handler)(int)) {
  struct sigaction action = {};
  action.sa_handler = handler;
  sigemptyset(&action.sa_mask);
  // Without SA_RESTART, so that blocking calls return.
  sigaction(number, &action, nullptr);
}

/// Fills a closed stream with /dev/null, opened so that the stream's use is an error.
void keep_closed(int stream, int flags) {
  if (fcntl(stream, F_GETFD) >= 0) return;
  const int opened = open("/dev/null", flags);
  if (opened >= 0 && opened != stream) {
    dup2(opened, stream);
    close(opened);
  }
}

}  // namespace

void prepare_process() {
  keep_closed(STDIN_FILENO, O_WRONLY);
  keep_closed(STDOUT_FILENO, O_RDONLY);
  keep_closed(STDERR_FILENO, O_RDONLY);
  struct sigevent tick = {};
  tick.sigev_notify = SIGEV_SIGNAL;
  tick.sigev_signo = SIGALRM;
  has_ticker = timer_create(CLOCK_MONOTONIC, &tick, &ticker) == 0;
  handle(SIGALRM, on_tick);
  handle(SIGINT, on_stop);
  handle(SIGTERM, on_stop);
  handle(SIGPIPE, on_broken_pipe);
}

void stop_if_interrupted() {
  if (stop_signal != 0) throw Interrupted();
}

ExitCode signal_exit_code() {
  return stop_signal == SIGTERM ? ExitCode::terminated : ExitCode::interrupted;
}

bool reader_went_away() {
  return pipe_broken != 0;
}

}  // namespace roofcast::cli
