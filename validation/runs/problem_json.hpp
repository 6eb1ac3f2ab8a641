#pragma once
// Internal to validation/: JSON of problems in run files and suites.
#include "hw_specs/json_node.hpp"
#include "model/catalog.hpp"
#include "model/types/problem.hpp"

namespace roofcast::validation {

using specs::JsonNode;

/// The variant of that name; refuses a family or an unknown name at `name`.
KernelRef kernel_from_json(const JsonNode& name);

/// Every parameter by name, and "dtype". A choice is written as its name, a text as it is.
nlohmann::json problem_to_json(const KernelRef& kernel, const Problem& problem);
Problem problem_from_json(const KernelRef& kernel, const JsonNode& node);

/// Reads one parameter of a problem; refuses wrong values at `node`.
void value_from_json(const Parameter& parameter, const JsonNode& node, Problem& problem,
                     std::size_t position);

DType dtype_from_json(const JsonNode& node);

}  // namespace roofcast::validation
