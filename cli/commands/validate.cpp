#include "cli/input/validation_request.hpp"
#include "cli/measure/measuring_program.hpp"

namespace roofcast::cli {

ExitCode run_validate(const Arguments& arguments) {
  if (!read_validation_request(arguments)) return ExitCode::done;
  become_measuring_program("validate", arguments);
}

}  // namespace roofcast::cli
