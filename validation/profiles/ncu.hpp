#pragma once
// Reads Nsight Compute's tables: `ncu --csv` with --page raw (a kernel per row) or with --page
// details or --metrics (a metric per row).
#include <optional>
#include <string>
#include <vector>

#include "validation/profiles/trace.hpp"

namespace roofcast::validation {

/// A file's text, and its name for messages.
struct NcuText {
  std::string file, text;
};

/// Skips lines before a table and lines of ncu or the profiled program in it. Kernels with the same
/// ID, name and grid in different tables are passes of one kernel. Numbers may be in any locale
/// (csv_numbers.hpp). Throws SpecError for no table, a row cut off, a kernel without time, or
/// several devices if none is chosen.
Trace read_ncu(std::vector<NcuText> texts, std::optional<int> device = {});

}  // namespace roofcast::validation
