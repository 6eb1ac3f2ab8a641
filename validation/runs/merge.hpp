#pragma once
#include <string>
#include <vector>

#include "validation/runs/run.hpp"

namespace roofcast::validation {

struct NamedRun {
  std::string file;
  Run run;
};

/// Joins all shards of a validation into one run, with cases in the order of the suite and the
/// earliest date. A single whole run is returned as it is. Throws InputError if the runs differ in
/// suite, build, device or its conditions, or if a shard or a case is missing.
Run merge(const std::vector<NamedRun>& runs);

}  // namespace roofcast::validation
