#pragma once
// What `calibrate` was asked, read alike by the program and by the one that measures.
#include <optional>
#include <string>

#include "cli/input/options.hpp"

namespace roofcast::cli {

struct CalibrationRequest {
  Options options;
  std::string output;  ///< the overlay
  std::string curves;  ///< every curve, as JSON
  std::string keep;    ///< an overlay whose other values are kept; empty: none
};

/// Nothing if the help was asked for, and printed. Throws InputError where a file to write is there
/// already and --force is not given.
std::optional<CalibrationRequest> read_calibration_request(const Arguments& arguments);

}  // namespace roofcast::cli
