#include "cli/commands/command.hpp"
#include "cli/output/terminal.hpp"

int main(int argc, char** argv) {
  roofcast::cli::catch_signals();
  return static_cast<int>(roofcast::cli::run({argv + 1, argv + argc}));
}
