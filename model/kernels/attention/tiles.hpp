#pragma once
// The tiles of attention kernels of libraries, by the padded head.
#include <cstdint>

#include "model/kernels/attention/backward.hpp"
#include "model/libraries/attention.hpp"
#include "model/types/gpu.hpp"

namespace roofcast::attention {

/// Throws InputError where that library has no kernel for the GPU.
Kernel kernel_of(Library library, const Gpu& gpu);

/// Query heads whose queries fill a tile together: one, or all that share K and V. `lengths`: sequences
/// have lengths of their own, as in serving.
std::int64_t packed_heads(Library library, const Kernel& kernel, const Shape& shape, bool lengths,
                          const Gpu& gpu);

/// Where so many heads are packed: few queries, against a longer cache, take the tile for decoding.
Tile tile_of(Library library, const Kernel& kernel, const Shape& shape, std::int64_t packed,
             const Gpu& gpu);

/// What that library's backward does. Throws InputError where it has none.
Backward library_backward(Library library, const Shape& shape, const Gpu& gpu);

}  // namespace roofcast::attention
