#pragma once
// Where the tiles of attention.flash2 lie in shared memory, and their order: plain arithmetic
// that the kernels use and tests/kernels/flash2_layout_test.cpp checks without a GPU.
#include "kernels/gemm/layout.cuh"

namespace roofcast::cuda::attention::mma {

using gemm::kChunkBytes;
using gemm::LineChunk;

/// Rows of a matrix, one after the other: a line of kBytes for each, swizzled as lines of 64 or of
/// 128 bytes (layout.cuh). A tile begins at a multiple of 1024 bytes. Any eight neighbouring
/// lines have the chunks of one column in different banks.
template <int kLines_, int kBytes_>
struct LineTile {
  static constexpr int kLines = kLines_, kBytes = kBytes_, kTileBytes = kLines * kBytes;
  static constexpr int kAcross = kBytes / kChunkBytes;
  static constexpr int kSwizzled = kBytes < gemm::kPanelBytes ? kBytes : gemm::kPanelBytes;
  static constexpr int kSwizzledChunks = kSwizzled / kChunkBytes;
  static_assert(kBytes % kSwizzled == 0 && kLines % 8 == 0);

  __host__ __device__ static constexpr int offset(int line, int chunk) {
    return line * kBytes + chunk / kSwizzledChunks * kSwizzled +
           gemm::swizzled_chunk<kSwizzled>(line, chunk % kSwizzledChunks);
  }
  /// The address `lines` below and `chunks` to the right of `at`: lines are a multiple of 8, and
  /// `chunks` shares no bit with the chunk of `at`, so that their sum is their exclusive or.
  __host__ __device__ static constexpr unsigned beyond(unsigned at, int lines, int chunks) {
    return (at ^ static_cast<unsigned>(chunks % kSwizzledChunks * kChunkBytes)) +
           static_cast<unsigned>(chunks / kSwizzledChunks * kSwizzled + lines * kBytes);
  }
};

enum class Side { left, right };  ///< operand A or B of a product
enum class Lines { along_k, across_k };

/// The line and chunk whose address a lane gives to ldmatrix, for 16 rows of A, or 16 columns of B,
/// and 16 of k. Lines that hold k are read without .trans, other lines with it.
template <Side kSide, Lines kLines>
__host__ __device__ constexpr LineChunk operand_address(int lane) {
  if constexpr (kLines == Lines::along_k) {
    return kSide == Side::left ? gemm::a_address(lane) : gemm::b_address(lane);
  } else {
    return kSide == Side::left ? gemm::a_address_transposed(lane)
                               : gemm::b_address_transposed(lane);
  }
}

/// Sums as an operand: words 0 and 1 of A, 16 rows by 16 k, are sums 0, 1 and 2, 3 of 8-column tile
/// 2·step; words 2 and 3 those of the next.
struct SumPair {
  int tile, first;
};
__host__ __device__ constexpr SumPair left_word(int step, int word) {
  return {2 * step + word / 2, word % 2 * 2};
}

/// The tiles of keys of all heads of K in the order in which blocks take them. Within a party of
/// heads the tiles with the most queries go first, as in Tiles.
struct KeyTiles {
  int seq_q, seq_kv;
  bool causal;
  int heads;     ///< heads of K, of all sequences
  int together;  ///< heads of a party
  int keys;
  int queries;  ///< queries of a step

  struct Tile {
    int head, key0;
    int first, past;  ///< steps with a query that sees a key of the tile
    int full;         ///< from this step on all queries see all keys of the tile; `past` if no step
  };

  __host__ __device__ constexpr int per_head() const { return (seq_kv + keys - 1) / keys; }
  __host__ __device__ constexpr int count() const { return per_head() * heads; }
  /// The first query that sees a key.
  __host__ __device__ constexpr int first_query(int key) const {
    const int query = causal ? key - (seq_kv - seq_q) : 0;
    return query > 0 ? query : 0;
  }
  __host__ __device__ constexpr Tile tile(int index) const {
    const int party = index / (per_head() * together);
    const int first_head = party * together;
    const int in_party = index - party * per_head() * together;
    const int width = heads - first_head < together ? heads - first_head : together;
    const int key0 = in_party / width * keys;
    const int past = (seq_q + queries - 1) / queries;
    const int full = (first_query(key0 + keys - 1) + queries - 1) / queries;
    return {first_head + in_party % width, key0, first_query(key0) / queries, past,
            key0 + keys > seq_kv || full > past ? past : full};
  }
};

}  // namespace roofcast::cuda::attention::mma
