#pragma once
// Handling of SIGINT, SIGTERM and SIGPIPE, and of closed standard streams.
#include "cli/exit_code.hpp"

namespace roofcast::cli {

/// Installs the handlers. SIGINT and SIGTERM ask the work to stop and end the program if it has not
/// stopped within 0.7 s. A broken pipe becomes a write error. A closed standard stream stays
/// unusable, so that no file opened later gets its number, and messages or answers with it.
void prepare_process();

/// Throws Interrupted once SIGINT or SIGTERM came.
void stop_if_interrupted();
/// 130 or 143: the code for the signal that came.
ExitCode signal_exit_code();
/// Whether a write failed because the pipe has no reader.
bool reader_went_away();

}  // namespace roofcast::cli
