#pragma once
// Kernel files: JSON text in, a kernel to forecast out. Pure: no file is opened here.
#include <string>
#include <string_view>

#include "model/catalog.hpp"

namespace roofcast::specs {

std::string_view kernel_schema_text();

/// Checks the text against kernel.schema.json and makes the kernel. `file` names the text in
/// errors. Throws SpecError (loader.hpp) at the value that is wrong.
KernelRef load_kernel(const std::string& file, std::string_view text);

}  // namespace roofcast::specs
