#pragma once
#include <string>
#include <vector>

#include "validation/runs/run.hpp"

namespace roofcast::validation {

struct NamedRun {
  std::string file;
  Run run;
};

/// The run that all shards of one validation make, as if it had not been sharded: cases in the
/// order of the suite, the earliest date. A single whole run stays as it is. Throws InputError
/// where the runs differ in suite, build, device or its conditions, and where a shard or a case is
/// missing.
Run merge(const std::vector<NamedRun>& runs);

}  // namespace roofcast::validation
