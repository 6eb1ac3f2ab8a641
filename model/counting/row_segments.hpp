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

/// Sectors of the pieces of `width` elements that warps touch which walk along the rows, from the
/// start of each: one more a piece where it does not begin on a sector boundary.
double sectors_along_rows(const DenseMatrix& matrix, std::int64_t width = 32);

/// Sectors that so many bytes touch which begin that far past a sector boundary.
double sectors_of_run(std::int64_t offset_bytes, std::int64_t bytes);

/// Of those, sectors that a piece fills only in part.
double partial_sectors_along_rows(const DenseMatrix& matrix, std::int64_t width = 32);

/// Sectors that warps touch which walk down the columns, 32 rows at a time from the top of each.
double sectors_down_columns(const DenseMatrix& matrix);

}  // namespace roofcast
