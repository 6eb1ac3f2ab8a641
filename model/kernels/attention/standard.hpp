#pragma once
// The tiles that attention.standard (kernels/attention/standard.cu) is instantiated from: batched
// matrix products, and passes over rows of scores between them.
#include <array>
#include <cstdint>

#include "model/kernels/attention/attention.hpp"
#include "model/kernels/gemm/tensor.hpp"

namespace roofcast::attention::standard {

/// How the operands of a product lie in memory: [m,k]·[n,k], [m,k]·[k,n] or [k,m]·[k,n].
enum class Operands { nt, nn, tn };

/// Tiles for mma.sync as in gemm.mma_sync, one block each. The queries of all heads that share K
/// and V are the rows of one matrix, so a batch has batch × kv_heads matrices.
inline constexpr std::array kTiles = {gemm::tensor::MmaTile{128, 128, 64, 2, 2, 4, 2},
                                      gemm::tensor::MmaTile{128, 64, 64, 2, 2, 4, 3}};
/// Index in kTiles, by the columns of the result.
constexpr std::size_t tile_of(std::int64_t columns) {
  return columns > kTiles[1].n ? 0 : 1;
}

/// Pitch of a row of scores in elements: rows begin at multiples of 128 bytes.
constexpr std::int64_t row_of(std::int64_t seq_kv) {
  return gemm::tensor::passes::padded_row(seq_kv, 2);
}

/// Launch of a pass over rows: `threads` per row, `rows` per block.
struct RowLayout {
  std::int64_t threads, rows;
};
inline constexpr std::int64_t kHeldVectors = 4;  ///< 16-byte vectors of a row per thread
inline constexpr std::int64_t kRowThreads = 1024;
inline constexpr std::int64_t kBlockThreads = 256;  ///< threads of a block of several short rows
/// Longest row that is held. Longer ones are read twice, from L1 or L2 the second time.
inline constexpr std::int64_t kHeldKeys = kRowThreads * kHeldVectors * 8;

constexpr RowLayout row_layout(std::int64_t seq_kv) {
  std::int64_t threads = 32;
  while (threads < kRowThreads && threads * kHeldVectors * 8 < seq_kv) threads *= 2;
  return {threads, threads < kBlockThreads ? kBlockThreads / threads : 1};
}

}  // namespace roofcast::attention::standard
