#pragma once
#include <string>
#include <vector>

#include "hw_specs/loader.hpp"
#include "hw_specs/pointer.hpp"

namespace roofcast::specs {

/// Sets the values in the documents; a sustained value makes a null `overlay` an object. Throws
/// SpecError if a key names no leaf or several, or a value is no JSON number, string or boolean.
void apply(const std::vector<Override>& overrides, Json& specification, Json& overlay);

/// The pointer of the leaf that the key names. Throws SpecError if it names none or several.
std::string leaf_named(const Override& one);

/// "--set sm_count=144, --set …": stands for the file name in errors that overrides caused.
std::string option_text(const std::vector<Override>& overrides);

}  // namespace roofcast::specs
