#pragma once
// Reports on a file's machine code as text and JSON.
#include <optional>
#include <string>
#include <vector>

#include "cli/output/json_writer.hpp"
#include "cli/output/terminal.hpp"
#include "model/types/gpu.hpp"
#include "validation/sass/kernel_report.hpp"

namespace roofcast::cli {

/// A kernel, and a GPU that runs its code; none where no shipped GPU does.
struct InspectedKernel {
  sass::KernelReport report;
  std::optional<Gpu> gpu;
};

/// A heading, the registers and memories of a thread and a block, and a row for the whole code and
/// for each loop.
std::string inspection_text(const InspectedKernel& kernel, const Style& style);

/// {"kernel":…,"symbol":…,"architecture":…,"registers":…,"whole":{…},"outside_loops":{…},
/// "main_way_instructions":…,"loops":[…]}.
/// Counts are those of one pass of a warp through the code; FLOPs and bytes are those of a thread.
void write_inspection(JsonWriter& json, const InspectedKernel& kernel);

}  // namespace roofcast::cli
