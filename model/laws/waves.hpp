#pragma once
#include <cstdint>

#include "model/types/prediction.hpp"

namespace roofcast {

/// Waves of a grid over a device that holds `capacity` blocks at once (capacity ≥ 1).
/// Source: NVIDIA Deep Learning Performance, Matrix Multiplication Background, "wave quantization".
Waves waves(std::int64_t blocks, std::int64_t capacity);

}  // namespace roofcast
