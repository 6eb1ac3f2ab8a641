#pragma once
// Rules that a comparison must meet for `roofcast compare` to exit with 0.
#include <string>
#include <vector>

#include "validation/comparison/compare.hpp"

namespace roofcast::validation {

/// The largest mean absolute error of time allowed for a group: "gemm", "memory", "gemm/memory",
/// "h200-sxm" or "all".
struct Tolerance {
  std::string group;
  double mean_absolute_error = 0;  ///< relative: 0.1 is 10%
};

/// "gemm=10%", "all=0.15". Throws InputError.
Tolerance parse_tolerance(const std::string& text);

/// One line for each rule broken: groups over their tolerance, tolerances whose group is not in the
/// comparison, measurements faster than their limit, cases that failed, cases that an interrupted
/// run has not measured. Empty: none broken.
std::vector<std::string> breaches(const Comparison& comparison,
                                  const std::vector<Tolerance>& tolerances);

}  // namespace roofcast::validation
