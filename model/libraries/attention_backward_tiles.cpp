#include <algorithm>

#include "model/constants/libraries.hpp"
#include "model/kernels/common/plan_parts.hpp"
#include "model/libraries/attention_tiles.hpp"

namespace roofcast::attention {
namespace {

// A warp has P and dS of a tile under way at once.
constexpr double kTwoChains = 2;

// Backward, counted: a multiply-add and the exponential, a subtraction, a product, half a
// conversion each of P and dS, and half a store of dS; an addition in memory takes one element, or
// four.
constexpr Kernel kFlash2Backward = {Instruction::mma_sync, 5.5, 1, library::kMaskInstructions};
constexpr Kernel kFlash3Backward = {Instruction::wgmma, 5.5, 0.25, 2};
constexpr Kernel kCudnnBackward = {Instruction::wgmma, 5.5, 0.25, library::kMaskInstructions,
                                   library::kResultInstructions};

// FlashAttention-2, flash_bwd_launch_template.h: eight warps, four by two.
BackwardTile flash2_backward_tile(std::int64_t width) {
  if (width <= 64) return {128, 128, 8, 2, 2, 255, 0};
  if (width <= 128) return {64, 128, 8, 2, 2, 255, 0};
  return {64, 64, 8, 2, 1, 255, 0};
}

// K and V, the stages of Q and dO, and dS; of fewer keys or stages where an SM has no room.
void set_shared_bytes(BackwardTile& tile, std::int64_t width, const Gpu& gpu) {
  const auto bytes = [&] {
    return (2 * (tile.keys + tile.stages * tile.queries) * width + tile.queries * tile.keys) * 2;
  };
  const auto fits = [&] {
    return !gpu.occupancy || bytes() <= gpu.occupancy->shared_bytes_per_block;
  };
  constexpr std::int64_t kFewKeys = 64;
  if (!fits()) tile.keys = std::min(tile.keys, kFewKeys);
  if (!fits()) tile.stages = 1;
  tile.shared_bytes = bytes();
}

// FlashAttention-3, hopper/flash_bwd_launch_template.h: two warpgroups and one that copies.
BackwardTile flash3_backward_tile(std::int64_t width, bool causal) {
  if (width <= 64) return {128, 128, 12, 1, 2, 168, 0};
  if (width <= 128) return {causal ? 64 : 80, 128, 12, 1, 2, 168, 0};
  return {64, 80, 12, 1, 1, 168, 0};
}

// flash_api.cpp: sums of dQ have rows of 32 elements, and as many rows as whole tiles. PyTorch adds
// dK and dV.
void set_flash2_rows(RowLayout& rows, const Shape& shape) {
  rows.rows = ceil_div(shape.seq_q, 128) * 128;
  rows.width = ceil_div(shape.head_dim, 32) * 32;
  rows.group_waits = library::kGroupSumWaits;
}

// cuDNN: 64 queries a step by its kernels' names, 128 keys by their grids where not all SMs have
// one.
BackwardTile cudnn_backward_tile(std::int64_t width) {
  if (width <= 128) return {64, 128, 12, 1, 2, 168, 0};
  return {64, 64, 12, 1, 1, 168, 0};
}

}  // namespace

Backward library_backward(Library library, const Shape& shape, const Gpu& gpu) {
  if (library == kTrtllm) {
    throw InputError("TensorRT-LLM has no backward: choose cudnn, fa2 or fa3");
  }
  const Kernel forward = kernel_of(library, gpu);
  const std::int64_t width = library_width(library, shape.head_dim);
  Backward backward{.shape = shape,
                    .kernel = forward.wide() ? kFlash3Backward : kFlash2Backward,
                    .keys = {},
                    .rows = {shape.seq_q, shape.head_dim, ceil_div(shape.head_dim, 8)},
                    .heads_apart = true,
                    .width = width};
  if (library != kFa3) {
    backward.rows.waits = backward.rows.group_waits = library::kPassWaits;
  }
  if (forward.wide() && library != kFa3) backward.kernel = kCudnnBackward;
  if (library == kFa2) set_flash2_rows(backward.rows, shape);
  backward.kernel.product = forward.product;
  BackwardTile& tile = backward.keys;
  if (!forward.wide()) {
    tile = flash2_backward_tile(width);
    tile.chains = kTwoChains;
  } else if (library == kFa3) {
    constexpr std::int64_t kSharedFrom = 128;
    tile = flash3_backward_tile(width, shape.causal);
    if (width <= kSharedFrom) tile.waited_products = kWaitsForDq;
  } else {
    tile = cudnn_backward_tile(width);
  }
  tile.together =
      heads_together(shape.batch * shape.heads, 1, shape.seq_q * shape.head_dim * 2, shape.causal);
  set_shared_bytes(tile, width, gpu);
  return backward;
}

}  // namespace roofcast::attention
