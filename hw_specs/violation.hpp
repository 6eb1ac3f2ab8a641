#pragma once
#include <string>

#include "hw_specs/pointer.hpp"

namespace roofcast::specs {

/// Where a document breaks its schema, and the validator's description of the error.
struct Violation {
  std::string pointer;
  std::string words;
};

/// Throws the SpecError that says what the schema expects there, what was found and how to mend it.
[[noreturn]] void throw_violation(const Json& document, const Json& schema,
                                  const Violation& violation, const std::string& file);

}  // namespace roofcast::specs
