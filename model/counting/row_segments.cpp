#include "model/counting/row_segments.hpp"

#include <algorithm>
#include <numeric>

#include "model/counting/coalescing.hpp"

namespace roofcast {
namespace {

double partial_sectors_of_run(std::int64_t offset_bytes, std::int64_t bytes) {
  if (bytes <= 0) return 0;
  const std::int64_t begin = offset_bytes % kSectorBytes;
  const std::int64_t first_whole = (begin + kSectorBytes - 1) / kSectorBytes;
  const std::int64_t end_of_whole = (begin + bytes) / kSectorBytes;
  return sectors_of_run(offset_bytes, bytes) -
         static_cast<double>(std::max<std::int64_t>(0, end_of_whole - first_whole));
}

// Σ over all rows of what `of_row(offset of the row)` says.
template <class Count>
double sum_over_rows(const DenseMatrix& matrix, const Count& of_row) {
  // Rows repeat their offset from a sector boundary.
  const std::int64_t period = kSectorBytes / std::gcd(matrix.pitch_bytes(), kSectorBytes);
  double sum = 0;
  for (std::int64_t row = 0; row < std::min(period, matrix.rows); ++row) {
    const std::int64_t rows_like_it = (matrix.rows - row + period - 1) / period;
    sum += static_cast<double>(rows_like_it) * of_row(row * matrix.pitch_bytes() % kSectorBytes);
  }
  return sum;
}

// Σ of what `of_run(offset, bytes)` says of runs of `width` elements along a row that starts at
// `offset_bytes`.
template <class Count>
double sum_over_runs(const DenseMatrix& matrix, std::int64_t width, std::int64_t offset_bytes,
                     const Count& of_run) {
  const std::int64_t whole = matrix.columns / width;
  const std::int64_t rest = matrix.columns % width;
  const std::int64_t step = width * matrix.element_bytes;
  const std::int64_t period = kSectorBytes / std::gcd(step, kSectorBytes);
  double sum = of_run(offset_bytes + whole * step, rest * matrix.element_bytes);
  for (std::int64_t run = 0; run < std::min(period, whole); ++run) {
    const std::int64_t runs_like_it = (whole - run + period - 1) / period;
    sum += static_cast<double>(runs_like_it) * of_run(offset_bytes + run * step, step);
  }
  return sum;
}

}  // namespace

double sectors_of_run(std::int64_t offset_bytes, std::int64_t bytes) {
  if (bytes <= 0) return 0;
  return static_cast<double>((offset_bytes % kSectorBytes + bytes - 1) / kSectorBytes + 1);
}

double sectors_along_rows(const DenseMatrix& matrix, std::int64_t width) {
  return sum_over_rows(matrix, [&](std::int64_t offset) {
    return sum_over_runs(matrix, width, offset, sectors_of_run);
  });
}

double partial_sectors_along_rows(const DenseMatrix& matrix, std::int64_t width) {
  return sum_over_rows(matrix, [&](std::int64_t offset) {
    return sum_over_runs(matrix, width, offset, partial_sectors_of_run);
  });
}

double sectors_down_columns(const DenseMatrix& matrix) {
  const auto columns = static_cast<double>(matrix.columns);
  if (matrix.pitch_bytes() >= kSectorBytes) {  // each row's element in a sector of its own
    return columns * static_cast<double>(matrix.rows);
  }
  const auto of_warp = [&](std::int64_t lanes, std::int64_t column) {
    return static_cast<double>(distinct_units({.stride_bytes = matrix.pitch_bytes(),
                                               .access_bytes = matrix.element_bytes,
                                               .offset_bytes = column * matrix.element_bytes,
                                               .lanes = lanes},
                                              kSectorBytes));
  };
  double sum = 0;
  for (std::int64_t column = 0; column < matrix.columns; ++column) {
    sum += static_cast<double>(matrix.rows / kWarpLanes) * of_warp(kWarpLanes, column) +
           of_warp(matrix.rows % kWarpLanes, column);
  }
  return sum;
}

}  // namespace roofcast
