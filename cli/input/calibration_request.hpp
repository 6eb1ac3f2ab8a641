#pragma once
// The request of `calibrate`, read in the same way by this program and by the measuring one.
#include <string>

#include "cli/input/options.hpp"

namespace roofcast::cli {

struct CalibrationRequest {
  Options options;
  std::string output;  ///< file of the overlay
  std::string curves;  ///< file of every measured curve, JSON
  std::string keep;  ///< file of an overlay whose values fill in what is not measured; empty: none
};

/// Reads the request. Throws as read_arguments, and InputError where a file to write exists and
/// --force is not given.
CalibrationRequest read_calibration_request(const Arguments& arguments);

}  // namespace roofcast::cli
