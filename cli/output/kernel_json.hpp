#pragma once
// The parameters and types that a kernel takes as JSON.
#include <string_view>

#include "cli/output/json_writer.hpp"
#include "model/catalog.hpp"

namespace roofcast::cli {

/// A line on what the kernel or family does.
std::string_view summary(const KernelRef& kernel);

/// Name, summary, types, parameters with their ranges, and a family's variants: one JSON object.
void write_kernel(JsonWriter& json, const KernelRef& kernel);

}  // namespace roofcast::cli
