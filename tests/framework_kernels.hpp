#pragma once
#include <string_view>

namespace roofcast::testing {

/// Kernels of a framework or a library: the model forecasts them, held against published
/// measurements, and there is no CUDA code for them here.
inline bool is_of_framework(std::string_view name) {
  return name.ends_with(".library") || name.starts_with("layer.");
}

}  // namespace roofcast::testing
