#pragma once
#include <string>
#include <vector>

#include "hw_specs/loader.hpp"
#include "hw_specs/pointer.hpp"

namespace roofcast::specs {

/// Sets the values in the documents; a null `overlay` becomes one when a sustained value is set.
/// Throws SpecError where a key names no leaf or several, or a value is no JSON number or string.
void apply(const std::vector<Override>& overrides, Json& specification, Json& overlay);

/// The pointer of the leaf that a key names. Throws SpecError where it names none or several.
std::string leaf_named(const Override& one);

/// "--set sm_count=144", "--set …, --set …": where errors in what overrides made come from.
std::string option_text(const std::vector<Override>& overrides);

}  // namespace roofcast::specs
