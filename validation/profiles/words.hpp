#pragma once
// A profile's calls as text.
#include <string>
#include <string_view>

#include "validation/profiles/profile.hpp"

namespace roofcast::validation {

/// "8192x768 768x50257": the shapes of a call's first tensors, about 40 characters; its grid and
/// block if none are known.
std::string shape_text(const CallGroup& group);
/// The operator's name, or the kernel's brief name.
std::string name_text(const CallGroup& group);
/// The binding resource, or why there is no forecast: "no shape", "not recognized", "no law".
std::string_view bound_text(const CallGroup& group);
/// "dram", "tensor" …: the resource that binds the forecast, else the limit; empty if neither is
/// known.
std::string_view bound_name(const CallGroup& group);

}  // namespace roofcast::validation
