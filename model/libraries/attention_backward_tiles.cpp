#include <algorithm>
#include <array>

#include "model/constants/libraries.hpp"
#include "model/kernels/common/plan_parts.hpp"
#include "model/libraries/attention_tiles.hpp"

namespace roofcast::attention {
namespace {

// FlashAttention-2, flash_bwd_launch_template.h: eight warps, four by two.
constexpr std::array<LibraryTile, 3> kFa2BackwardTiles = {
    {{64, 128, 128, 8, 2, 1}, {128, 64, 128, 8, 2, 1}, {256, 64, 64, 8, 1, 1}}};
// FlashAttention-3, hopper/flash_bwd_launch_template.h, with and without a causal mask: two
// warpgroups and one that copies.
constexpr std::array<LibraryTile, 3> kFa3BackwardTiles = {
    {{64, 128, 128, 12, 2, 1}, {128, 80, 128, 12, 2, 1}, {256, 64, 80, 12, 1, 1}}};
constexpr std::array<LibraryTile, 3> kFa3CausalBackwardTiles = {
    {{64, 128, 128, 12, 2, 1}, {128, 64, 128, 12, 2, 1}, {256, 64, 80, 12, 1, 1}}};
// cuDNN: 64 queries a step by its kernels' names, 128 keys by their grids where not all SMs have
// one.
constexpr std::array<LibraryTile, 2> kCudnnBackwardTiles = {
    {{128, 64, 128, 12, 2, 1}, {256, 64, 64, 12, 1, 1}}};

// K and V, the stages of Q and dO, and dS; of fewer keys or stages where an SM has no room.
void fit_backward(Tile& tile, std::int64_t width, const Gpu& gpu) {
  constexpr std::int64_t kFewKeys = 64;
  const auto bytes = [&] {
    return (2 * (tile.keys + tile.stages * tile.queries) * width + tile.queries * tile.keys) * 2;
  };
  const auto fits = [&] {
    return !gpu.occupancy || bytes() <= gpu.occupancy->shared_bytes_per_block;
  };
  if (!fits()) tile.keys = std::min(tile.keys, kFewKeys);
  if (!fits()) tile.stages = 1;
  tile.shared_bytes = bytes();
}

}  // namespace

Backward library_backward(Library library, const Shape& shape, const Gpu& gpu) {
  require(library != kTrtllm, "TensorRT-LLM has no backward: choose cudnn, fa2 or fa3");
  const std::int64_t width = library_width(library, shape.head_dim);
  Backward c{.shape = shape,
             .kernel = kernel_of(library, gpu),
             .keys = {},
             .rows = {shape.seq_q, shape.head_dim, ceil_div(shape.head_dim, 8)},
             .width = width,
             .heads_apart = true};
  c.kernel.instructions_a_sum = 1.0 / 4;  // four elements are added to dQ at once
  if (library != kFa3) c.rows.waits = c.rows.group_waits = library::kPassWaits;
  if (library == kFa2) {
    // flash_api.cpp: sums of dQ have rows of 32 elements, and as many rows as whole tiles. PyTorch
    // adds dK and dV.
    c.rows.rows = ceil_div(shape.seq_q, 128) * 128;
    c.rows.width = ceil_div(shape.head_dim, 32) * 32;
    c.rows.group_waits = library::kGroupSumWaits;
  }
  Tile& tile = c.keys;
  if (!c.kernel.wide()) {
    tile = tile_in(kFa2BackwardTiles, width);
    tile.chains = 2;  // P and dS of a tile at once
    tile.warps_across = 2;
  } else if (library == kFa3) {
    tile = tile_in(shape.causal ? kFa3CausalBackwardTiles : kFa3BackwardTiles, width);
  } else {
    tile = tile_in(kCudnnBackwardTiles, width);
    tile.counts.instructions_a_row = as_double(width) * library::kResultInstructions;
  }
  tile.registers = 168;
  tile.together =
      heads_together(shape.batch * shape.heads, 1, shape.seq_q * shape.head_dim * 2, shape.causal);
  fit_backward(tile, width, gpu);
  return c;
}

}  // namespace roofcast::attention
