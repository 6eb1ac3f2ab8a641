#pragma once
// The tiles of attention kernels of libraries, by the padded head.
#include <cstdint>

#include "model/kernels/attention_library.hpp"
#include "model/types/gpu.hpp"

namespace roofcast::attention {

/// Of a block: queries it holds, keys of a step, its warps and how it runs them.
struct Tile {
  std::int64_t queries;
  std::int64_t keys;
  std::int64_t warps;
  std::int64_t rows_per_warp;  ///< that share an operand which a warp has read from shared memory
  std::int64_t stages;         ///< of K and of V
  std::int64_t blocks_per_sm;  ///< that its registers leave room for
  bool products = true;        ///< on the tensor cores; else threads multiply
  double dependent_loads = 0;  ///< one after the other before the first tile: lengths, pages
  bool alternates =
      false;  ///< its warpgroups hold tiles of their own: one starts while another works
};

/// How a library's kernel goes about it on a GPU.
struct Kernel {
  Instruction product;  ///< matrix instruction; all but mma_sync read shared memory themselves
  double instructions_a_score;  ///< of a thread for one score: scale, maximum, exponential, sum …
  double instructions_a_sum;    ///< of a thread for one element of the sums in each step: rescaling
  double instructions_a_mask;   ///< more of a thread for one score where a causal mask cuts
};

/// Heads are padded to the next of 64, 128 and 256.
constexpr std::int64_t padded_head(std::int64_t head_dim) {
  return head_dim <= 64 ? 64 : head_dim <= 128 ? 128 : 256;
}

/// Throws InputError where that library has no kernel for the GPU.
Kernel kernel_of(Library library, const Gpu& gpu);

/// Query heads whose queries fill a tile together: one, or all that share K and V.
std::int64_t packed_heads(Library library, const Kernel& kernel, const Shape& shape);

/// Where so many heads are packed: few queries, against a longer cache, take the tile for decoding.
Tile tile_of(Library library, const Kernel& kernel, const Shape& shape, std::int64_t packed);

}  // namespace roofcast::attention
