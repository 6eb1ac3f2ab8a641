#pragma once
// Run files on disk: written whole or not at all, taken up again by a later run, joined.
#include <optional>
#include <string>
#include <vector>

#include "validation/runs/run.hpp"
#include "validation/runs/suite.hpp"

namespace roofcast::validation {

/// Nothing if there is no such file. Throws InputError for a file that is no run.
std::optional<Run> read_run(const std::string& path);

/// Writes beside the file and renames over it, so that a reader sees the old run or the new one.
/// Throws InputError; the old file then stands as it was.
void write_run(const std::string& path, const Run& run);

/// The run to go on with: the file's, if it is of the same suite, build and device, or `fresh` if
/// there is no file. Throws InputError for any other file, which stays as it is.
Run resume_run(const std::string& path, const Run& fresh);

/// Whether the run holds a measurement that answers the suite's case.
bool holds(const Run& run, const SuiteCase& wanted);

struct NamedRun {
  std::string file;
  Run run;
};

/// One run of all cases of runs of the same suite, build and device; the earliest date. Throws
/// InputError naming the two files where they differ or both hold a case.
Run merge(const std::vector<NamedRun>& runs);

}  // namespace roofcast::validation
