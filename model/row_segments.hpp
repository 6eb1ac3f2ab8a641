#pragma once
#include <cstdint>

namespace roofcast {

/// A dense matrix of rows × columns elements, row after row, its first on a line boundary.
struct DenseMatrix {
  std::int64_t rows = 1;
  std::int64_t columns = 1;
  std::int64_t element_bytes = 4;

  constexpr std::int64_t pitch_bytes() const { return columns * element_bytes; }
};

/// Sectors that warps touch which walk along the rows, 32 elements at a time from the start of
/// each: one more a warp where a row does not begin on a sector boundary.
double sectors_along_rows(const DenseMatrix& matrix);

/// Sectors that warps touch which walk down the columns, 32 rows at a time from the top of each.
double sectors_down_columns(const DenseMatrix& matrix);

/// Sectors that blocks of 32 rows by `depth` columns touch, each counted once a block: what L1 asks
/// of L2 for warps that walk down neighbouring columns at the same time.
double sectors_of_column_blocks(const DenseMatrix& matrix, std::int64_t depth);

}  // namespace roofcast
