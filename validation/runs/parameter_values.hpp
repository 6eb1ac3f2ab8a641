#pragma once
// Internal to validation/: what a suite's file gives for one parameter of a kernel.
#include <string_view>
#include <vector>

#include "hw_specs/json_node.hpp"
#include "model/catalog.hpp"
#include "validation/runs/parameter_value.hpp"

namespace roofcast::validation {

using specs::JsonNode;

/// One value or a list of values.
std::vector<JsonNode> one_or_many(const JsonNode& node);

/// 5, [5, 7], {"from": 1, "to": 64, "times": 2} or {"from": 0, "to": 64, "plus": 8}; of a parameter
/// that is given by name "forward" or ["forward", "backward"]. Throws SpecError.
Values values_from_json(const Parameter& parameter, const JsonNode& node);

/// The position of the kernel's parameter of that name; another name is refused at `where`.
std::size_t parameter_position(const KernelRef& kernel, std::string_view name,
                               const JsonNode& where);

}  // namespace roofcast::validation
