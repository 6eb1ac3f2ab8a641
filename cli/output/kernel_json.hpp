#pragma once
// What a kernel takes, for programs.
#include <string_view>

#include "cli/output/json_writer.hpp"
#include "model/catalog.hpp"

namespace roofcast::cli {

/// One line on what it does.
std::string_view summary(const KernelRef& kernel);

/// Name, summary, types, parameters with their ranges, and a family's variants: one JSON object.
void write_kernel(JsonWriter& json, const KernelRef& kernel);

}  // namespace roofcast::cli
