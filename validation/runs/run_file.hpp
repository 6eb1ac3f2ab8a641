#pragma once
// Run files on disk: written whole or not at all, taken up again by a later run.
#include <optional>
#include <string>

#include "validation/runs/run.hpp"
#include "validation/runs/suite.hpp"

namespace roofcast::validation {

/// Nothing if there is no such file. Throws InputError for a file that is no run.
std::optional<Run> read_run(const std::string& path);

/// Writes beside the file and renames over it, so that a reader sees the old run or the new one.
/// Throws InputError; the old file then stands as it was.
void write_run(const std::string& path, const Run& run);

/// What must agree for two sets of cases to stand in one run, and does not.
struct Difference {
  std::string what;  ///< "power limit"
  std::string a;
  std::string b;
};

/// Of suite, build, GPU, device, driver, runtime, clocks and power limit.
std::optional<Difference> difference(const Run& a, const Run& b);

/// The run to go on with: the file's, if it is of the same suite, shard, build and device, or
/// `fresh` if there is no file. Throws InputError for any other file, which stays as it is. Whoever
/// goes on to write the file holds its WriteLock.
Run resume_run(const std::string& path, const Run& fresh);

/// Whether the run holds a measurement that answers the suite's case.
bool holds(const Run& run, const SuiteCase& wanted);

/// Whether the run says that the suite's case gave no measurement.
bool failed(const Run& run, const SuiteCase& wanted);

}  // namespace roofcast::validation
