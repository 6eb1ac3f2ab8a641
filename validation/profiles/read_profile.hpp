#pragma once
// A profile's file, whichever it is.
#include <optional>
#include <string>
#include <vector>

#include "validation/profiles/trace.hpp"

namespace roofcast::validation {

/// A trace of torch.profiler, or tables of Nsight Compute (several files: passes over the same
/// kernels). What a file is, its first byte tells. Throws SpecError as read_trace and read_ncu do.
Trace read_profile(const std::vector<std::string>& paths, std::optional<int> device = {});

}  // namespace roofcast::validation
