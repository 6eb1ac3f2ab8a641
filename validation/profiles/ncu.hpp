#pragma once
// Nsight Compute's tables: `ncu --csv` with --page raw (a kernel a row) or --page details and
// --metrics (a metric a row).
#include <optional>
#include <string>
#include <vector>

#include "validation/profiles/trace.hpp"

namespace roofcast::validation {

/// One file's text and its name for messages.
struct NcuText {
  std::string file, text;
};

/// Lines before the table, those of ncu and what the program prints in between are left out. Of the
/// texts, and of several tables in one, kernels with the same ID, name and grid are passes of one
/// kernel. Numbers may be in any language (csv_numbers.hpp). Throws SpecError: no table, a row cut
/// off, no time, several devices without a choice.
Trace read_ncu(std::vector<NcuText> texts, std::optional<int> device = {});

}  // namespace roofcast::validation
