#include "cli/commands/command.hpp"
#include "cli/output/signals.hpp"

int main(int argc, char** argv) {
  roofcast::cli::prepare_process();
  return static_cast<int>(roofcast::cli::run({argv + 1, argv + argc}));
}
