#pragma once
// What the machine code of a file says, for people and for programs.
#include <optional>
#include <string>
#include <vector>

#include "cli/output/json_writer.hpp"
#include "cli/output/terminal.hpp"
#include "model/types/gpu.hpp"
#include "validation/sass/kernel_report.hpp"

namespace roofcast::cli {

/// A kernel, and a GPU that runs its code: none where none of that generation is known.
struct InspectedKernel {
  sass::KernelReport report;
  std::optional<Gpu> gpu;
};

/// A heading, what a block and a thread hold, and a row for the whole and for each loop.
std::string inspection_text(const InspectedKernel& kernel, const Style& style);

/// {"kernel":…,"symbol":…,"architecture":…,"registers":…,"whole":{…},"outside_loops":{…},
/// "main_way_instructions":…,"loops":[…]}.
/// Counts are those of one pass of a warp, FLOPs and bytes those of a thread.
void write_inspection(JsonWriter& json, const InspectedKernel& kernel);

}  // namespace roofcast::cli
