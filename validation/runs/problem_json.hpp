#pragma once
// Internal to validation/: problems in run files.
#include "hw_specs/json_node.hpp"
#include "model/catalog.hpp"
#include "model/types/problem.hpp"

namespace roofcast::validation {

using specs::JsonNode;

/// The variant of that name; a family alone or an unknown name is refused at `name`.
KernelRef kernel_from_json(const JsonNode& name);

/// Every parameter by name, and "dtype". A choice is its name, a text itself.
nlohmann::json problem_to_json(const KernelRef& kernel, const Problem& problem);
Problem problem_from_json(const KernelRef& kernel, const JsonNode& node);

/// One value of a problem; refused at `node`.
void value_from_json(const Parameter& parameter, const JsonNode& node, Problem& problem,
                     std::size_t position);

DType dtype_from_json(const JsonNode& node);

}  // namespace roofcast::validation
