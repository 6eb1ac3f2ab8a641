#include "cli/input/calibration_request.hpp"
#include "cli/measure/measuring_program.hpp"

namespace roofcast::cli {

ExitCode run_calibrate(const Arguments& arguments) {
  read_calibration_request(arguments);
  become_measuring_program("calibrate", arguments);
}

}  // namespace roofcast::cli
