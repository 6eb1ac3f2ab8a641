#pragma once
// A kernel's problem as text: named parameters and the type.
#include <string>
#include <string_view>

#include "model/types/problem.hpp"

namespace roofcast::validation {

/// "m=4096 n=4096 k=4096 fp32"; parameters at their fallback are omitted.
std::string problem_text(std::string_view kernel, const Problem& problem);

/// "gemm" of "gemm.tiled".
std::string family_of(std::string_view kernel);

}  // namespace roofcast::validation
