#pragma once
// Run files on disk: replaced atomically, resumed by a later run.
#include <optional>
#include <string>

#include "validation/runs/run.hpp"
#include "validation/runs/suite.hpp"

namespace roofcast::validation {

/// The run; nothing if there is no such file. Throws InputError for a file that is no run.
std::optional<Run> read_run(const std::string& path);

/// Replaces the file atomically, so that a reader sees the old run or the new one. Throws
/// InputError, and then leaves the old file unchanged.
void write_run(const std::string& path, const Run& run);

/// A property that two runs of one validation must share and do not.
struct Difference {
  std::string what;  ///< "power limit"
  std::string a;
  std::string b;
};

/// The first difference in suite, seed, number of cases, build, GPU, device, driver, runtime, power
/// limit and clocks.
std::optional<Difference> difference(const Run& a, const Run& b);

/// The run to continue: the file's, if it agrees with `fresh` (difference, shard), or `fresh` if
/// there is no file. Throws InputError for any other file. A caller that then writes the file must
/// hold its WriteLock.
Run resume_run(const std::string& path, const Run& fresh);

/// The run's measurement of the suite's case; null if there is none.
Case* find_case(Run& run, const SuiteCase& wanted);

/// Whether the run records the suite's case as failed.
bool failed(const Run& run, const SuiteCase& wanted);

}  // namespace roofcast::validation
