#pragma once
#include <string>

#include "hw_specs/rules.hpp"

namespace roofcast::specs {

/// Every value names a source that is there, and every source says where to look. Throws SpecError.
/// A calibration may also name "measured: WHAT", in the run of its provenance.
void check_sources(const Json& document, bool calibration, Stage stage, const std::string& file);

/// Whether the text starts with a day of the calendar, YYYY-MM-DD.
bool starts_with_date(std::string_view text);

}  // namespace roofcast::specs
