#pragma once
#include "model/types/kernel_model.hpp"

namespace roofcast::elementwise {

/// Each function as an eager framework runs it, one kernel for each operation.
inline constexpr std::string_view kReluUnfused = "relu(x)";
inline constexpr std::string_view kGeluUnfused =
    "(1 + tanh(0.79788456*(x + 0.044715*(x*x*x))))*(0.5*x)";
inline constexpr std::string_view kEluUnfused = "relu(x) + min(exp(x) - 1, 0)";
inline constexpr std::string_view kSincosUnfused = "sin(x)^2 + cos(x)^2";
inline constexpr std::string_view kFmaUnfused = "a*b + c";

extern const KernelFamily kRelu, kGelu, kElu, kSincos, kFma;

}  // namespace roofcast::elementwise
