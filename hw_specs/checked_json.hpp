#pragma once
#include <string>
#include <string_view>

#include "hw_specs/pointer.hpp"

namespace roofcast::specs {

/// Parses JSON text. Throws SpecError where the syntax is wrong, a key stands twice in one object,
/// a number is out of the range of a double, or the text is empty, too long or nested too deep.
Json parse_checked(const std::string& file, std::string_view text);

}  // namespace roofcast::specs
