#pragma once
// The tiles of attention kernels of libraries, by the padded head.
#include <cstdint>

#include "model/kernels/attention/backward.hpp"
#include "model/libraries/attention.hpp"
#include "model/types/gpu.hpp"

namespace roofcast::attention {

/// Throws InputError where that library has no kernel for the GPU.
Kernel kernel_of(Library library, const Gpu& gpu);

/// Elements that a row of its tiles has room for.
std::int64_t library_width(Library library, std::int64_t head_dim);

/// Rows of Q, K and V that a block holds in shared memory.
std::int64_t shared_rows(const Tile& tile);

/// What a library runs for the shape, its splits where they are left to choose by the library's own
/// rule; they stay kToChoose where that is not known. `lengths`: sequences have
/// lengths of their own, as in serving.
Forward library_forward(Library library, const Shape& shape, std::int64_t splits, bool lengths,
                        const Gpu& gpu);

/// What that library's backward does. Throws InputError where it has none.
Backward library_backward(Library library, const Shape& shape, const Gpu& gpu);

}  // namespace roofcast::attention
