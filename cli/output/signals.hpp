#pragma once
// SIGINT, SIGTERM and SIGPIPE, and standard streams that are closed.
#include "cli/exit_code.hpp"

namespace roofcast::cli {

/// SIGINT and SIGTERM ask the work to stop; if it has not within 0.7 s, they end the program. A
/// broken pipe becomes a write error. A standard stream that is closed stays unusable, so that no
/// file opened later takes its number and with it messages or answers.
void prepare_process();

/// Throws Interrupted once SIGINT or SIGTERM came.
void stop_if_interrupted();
/// 130 or 143: the code for the signal that came.
ExitCode signal_exit_code();
/// Whether a write met a pipe that nobody reads.
bool reader_went_away();

}  // namespace roofcast::cli
