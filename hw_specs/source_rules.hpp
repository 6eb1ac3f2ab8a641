#pragma once
#include <string>

#include "hw_specs/rules.hpp"

namespace roofcast::specs {

/// Checks that every value names a key of /sources, "unverified" or "arithmetic" (with a formula),
/// and that every source has an address or a date. A calibration may also name "measured: WHAT",
/// which refers to the run of its provenance. Throws SpecError.
void check_sources(const Json& document, bool calibration, Stage stage, const std::string& file);

/// Whether the text starts with a valid date, YYYY-MM-DD.
bool starts_with_date(std::string_view text);

}  // namespace roofcast::specs
