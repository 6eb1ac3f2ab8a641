#pragma once
// Internal to validation/: problems in run files.
#include "model/catalog.hpp"
#include "model/problem.hpp"
#include "validation/json_reader.hpp"

namespace roofcast::validation {

/// The variant of that name; a family alone or an unknown name is refused at `name`.
Found kernel_from_json(const JsonNode& name);

/// Every parameter by name, and "dtype".
nlohmann::json problem_to_json(std::string_view kernel, const Problem& problem);
Problem problem_from_json(const Found& kernel, const JsonNode& node);

DType dtype_from_json(const JsonNode& node);

}  // namespace roofcast::validation
