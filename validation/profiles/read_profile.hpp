#pragma once
// Reads a profile of either kind.
#include <optional>
#include <string>
#include <vector>

#include "validation/profiles/trace.hpp"

namespace roofcast::validation {

/// Reads a trace of torch.profiler, or tables of Nsight Compute (several files: passes over the
/// same kernels). A file that begins with { or [ is a trace. Throws SpecError as read_trace and
/// read_ncu do.
Trace read_profile(const std::vector<std::string>& paths, std::optional<int> device = {});

}  // namespace roofcast::validation
