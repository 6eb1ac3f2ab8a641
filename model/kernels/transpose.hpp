#pragma once
#include "model/kernel_model.hpp"

namespace roofcast::transpose {

/// Positions of the values in Problem.
enum Parameter : std::size_t { kRows, kColumns };

/// A block of 32 lanes by 8 warps moves a tile of `tile` × `tile` elements: of 32 for elements of 4
/// and 8 bytes, of 64 for elements of 2, which move in pairs.
inline constexpr std::int64_t kLanes = 32;
inline constexpr std::int64_t kWarps = 8;
constexpr std::int64_t tile(DType dtype) {
  return size_bytes(dtype) < 4 ? 64 : 32;
}

extern const KernelFamily kFamily;

}  // namespace roofcast::transpose
