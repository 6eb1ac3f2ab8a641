#pragma once
// A profile's kernels in words.
#include <string>
#include <string_view>

#include "validation/profiles/profile.hpp"

namespace roofcast::validation {

/// "8192x768 768x50257": the shapes of a call's tensors, as far as they are few; its grid where
/// none are known.
std::string shape_text(const CallGroup& group);
/// An operator's name, or a kernel's in brief.
std::string name_text(const CallGroup& group);
/// Why there is no forecast: "no shape", "not recognized", "no law"; what binds the forecast
/// otherwise.
std::string_view bound_text(const CallGroup& group);
/// "dram", "tensor" …: what takes the limit's or the forecast's time; empty where neither is known.
std::string_view bound_name(const CallGroup& group);

}  // namespace roofcast::validation
