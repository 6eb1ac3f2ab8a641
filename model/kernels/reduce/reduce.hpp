#pragma once
#include "model/kernels/common/rows.hpp"

namespace roofcast::reduce {

enum class Kind : unsigned char { row, weighted, global };

/// Positions in Problem after the shape.
enum Parameter : std::size_t { kSplit = 2, kThreads };

/// Each group of rows has `split` chunks, a block or a warp each; a second launch adds their sums.
struct Layout {
  std::int64_t threads = 256;       ///< threads that share a chunk: a block, or a warp
  std::int64_t groups_a_block = 1;  ///< groups of rows; more than one: a warp each
  std::int64_t rows_a_group = 1;    ///< rows that a thread adds up side by side
  std::int64_t split = 1;           ///< chunks of a row

  constexpr std::int64_t blocks(std::int64_t rows) const {
    return ceil_div(rows, rows_a_group * groups_a_block) * split;
  }
};

inline constexpr std::int64_t kMostThreads = 256;
/// Most chunks that the second launch adds up.
inline constexpr std::int64_t kMostChunks = 32768;
/// 16-byte accesses to x a thread issues before it adds the first.
inline constexpr std::int64_t kBatch = 8;
/// Rows for which a thread uses each weight it has loaded.
inline constexpr std::int64_t kWeightedRows = 4;
/// Accesses to each of these rows before the first is used, where they are read by single elements.
inline constexpr std::int64_t kSingleBatch = 4;

constexpr std::int64_t rows_a_group(Kind kind) {
  return kind == Kind::weighted ? kWeightedRows : 1;
}
/// A block for each chunk of a group of rows, or with 32 threads a warp.
constexpr Layout layout_of(Kind kind, const Problem& p) {
  return {p[kThreads], p[kThreads] == rows::kWarp ? rows::kWarpsPerBlock : 1, rows_a_group(kind),
          p[kSplit]};
}

/// Elements of a chunk, a whole number of 16-byte vectors.
constexpr std::int64_t chunk_elements(std::int64_t cols, std::int64_t element_bytes,
                                      std::int64_t split) {
  const std::int64_t width = rows::kVectorBytes / element_bytes;
  return round_up(ceil_div(cols, split), width);
}

/// The second launch: a warp for each row, or a block where a row has more chunks than this.
inline constexpr std::int64_t kChunksOfWarp = 1024;
constexpr rows::Layout finish_layout(const Layout& layout) {
  if (layout.split > kChunksOfWarp) return {.threads = rows::kMaxThreads};
  return {.rows_per_block = 8};
}

extern const KernelFamily kFamily;

}  // namespace roofcast::reduce
