#pragma once
#include <string_view>

namespace roofcast::testing {

/// Kernels inside a framework or a library, whose launches are not ours to see: they have a
/// forecast, held against published measurements, and no CUDA here.
inline bool is_of_framework(std::string_view name) {
  return name.ends_with(".library") || name.starts_with("layer.");
}

}  // namespace roofcast::testing
