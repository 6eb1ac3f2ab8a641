#pragma once
#include <cstddef>
#include <cstdint>

#include "model/kernels/rows.hpp"
#include "model/types/kernel_model.hpp"

namespace roofcast::reduce {

/// Position in Problem after the shape.
enum Parameter : std::size_t { kSplit = 2 };

/// How sums are spread over blocks: each row, or group of rows, in `split` chunks; a second launch
/// adds the chunks' sums where there are several.
struct Layout {
  std::int64_t threads = 256;       ///< that share a chunk: a block, or a warp
  std::int64_t groups_a_block = 1;  ///< more than one: a warp each
  std::int64_t rows_a_group = 1;    ///< rows that threads add up side by side
  std::int64_t split = 1;           ///< chunks of a row

  constexpr std::int64_t blocks(std::int64_t rows) const {
    return rows::ceil_div(rows, rows_a_group * groups_a_block) * split;
  }
};

inline constexpr std::int64_t kThreads = 256;
/// Blocks of about a microsecond, so that the last of them leave the GPU idle for no longer; but no
/// more of them than the second launch can add up in a few microseconds.
inline constexpr std::int64_t kChunkBytes = std::int64_t{32} * 1024;
inline constexpr std::int64_t kMostChunks = 32768;
/// Rows from which a block a row keeps the GPU busy to the end.
inline constexpr std::int64_t kManyRows = 8192;
/// Accesses of 16 bytes a thread issues before it adds the first.
inline constexpr std::int64_t kBatch = 8;
/// Rows that share each weight a thread has loaded.
inline constexpr std::int64_t kWeightedRows = 4;

constexpr std::int64_t element_bytes(const Problem& p) {
  return static_cast<std::int64_t>(size_bytes(p.dtype));
}

constexpr std::int64_t split_of(std::int64_t rows, std::int64_t row_bytes,
                                std::int64_t rows_a_group, std::int64_t given) {
  if (given != 0) return given;
  const std::int64_t groups = rows::ceil_div(rows, rows_a_group);
  if (groups >= kManyRows) return 1;
  return std::min(rows::ceil_div(rows_a_group * row_bytes, kChunkBytes),
                  std::max<std::int64_t>(1, kMostChunks / groups));
}

/// reduce.row: a warp for a row of one batch of accesses, else a block a chunk.
constexpr Layout row_layout(const Problem& p) {
  const std::int64_t vectors = rows::vectors_of(p[rows::kCols], element_bytes(p));
  if (vectors <= rows::kWarp * kBatch && p[kSplit] <= 1) {
    return {rows::kWarp, rows::kWarpsPerBlock, 1, 1};
  }
  return {kThreads, 1, 1,
          split_of(p[rows::kRows], p[rows::kCols] * element_bytes(p), 1, p[kSplit])};
}

/// reduce.global: one row of all elements.
constexpr Layout global_layout(const Problem& p) {
  const std::int64_t bytes = p[rows::kRows] * p[rows::kCols] * element_bytes(p);
  return {kThreads, 1, 1, split_of(1, bytes, 1, p[kSplit])};
}

/// reduce.weighted: threads so that a short row takes two accesses of each.
constexpr Layout weighted_layout(const Problem& p) {
  const std::int64_t vectors = rows::vectors_of(p[rows::kCols], element_bytes(p));
  const std::int64_t warps = rows::ceil_div(std::max<std::int64_t>(1, vectors), 2 * rows::kWarp);
  const std::int64_t threads = std::min(kThreads, warps * rows::kWarp);
  const std::int64_t split =
      split_of(p[rows::kRows], p[rows::kCols] * element_bytes(p), kWeightedRows, p[kSplit]);
  return {threads, threads == rows::kWarp ? rows::kWarpsPerBlock : 1, kWeightedRows, split};
}

/// Elements of a chunk: whole vectors.
constexpr std::int64_t chunk_elements(std::int64_t cols, std::int64_t element_bytes,
                                      std::int64_t split) {
  const std::int64_t width = rows::kVectorBytes / element_bytes;
  return rows::ceil_div(rows::ceil_div(cols, split), width) * width;
}

/// The second launch: a warp a row, or where the chunks are many a block a row.
inline constexpr std::int64_t kChunksOfWarp = 1024;
struct Finish {
  std::int64_t threads = rows::kWarp;
  std::int64_t rows_a_block = 8;
};
constexpr Finish finish_layout(const Layout& layout) {
  return layout.split <= kChunksOfWarp ? Finish{} : Finish{rows::kMaxThreads, 1};
}

extern const KernelFamily kFamily;

}  // namespace roofcast::reduce
