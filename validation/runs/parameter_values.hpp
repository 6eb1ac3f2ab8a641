#pragma once
// Internal to validation/: the values of a kernel's parameter in a suite's file.
#include <string_view>
#include <vector>

#include "hw_specs/json_node.hpp"
#include "model/catalog.hpp"
#include "validation/runs/parameter_value.hpp"

namespace roofcast::validation {

using specs::JsonNode;

/// One value or a list of values.
std::vector<JsonNode> one_or_many(const JsonNode& node);

/// Reads 5, [5, 7], {"from": 1, "to": 64, "times": 2} or {"from": 0, "to": 64, "plus": 8}; for a
/// parameter whose values have names, "forward" or ["forward", "backward"]. Throws SpecError.
Values values_from_json(const Parameter& parameter, const JsonNode& node);

/// The position of the kernel's parameter of that name; another name is refused at `where`.
std::size_t parameter_position(const KernelRef& kernel, std::string_view name,
                               const JsonNode& where);

}  // namespace roofcast::validation
