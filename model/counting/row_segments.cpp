#include "model/counting/row_segments.hpp"

#include <algorithm>
#include <numeric>

#include "model/counting/coalescing.hpp"
#include "model/counting/integers.hpp"

namespace roofcast {
namespace {

double partial_sectors_of_run(std::int64_t offset_bytes, std::int64_t bytes) {
  if (bytes <= 0) return 0;
  const std::int64_t begin = offset_bytes % kSectorBytes;
  const std::int64_t whole = (begin + bytes) / kSectorBytes - ceil_div(begin, kSectorBytes);
  return sectors_of_run(offset_bytes, bytes) - as_double(std::max<std::int64_t>(0, whole));
}

// Σ of what `of(offset)` says of the first `count` multiples of `step` bytes: what it says repeats
// with the offset from a sector boundary.
template <class Of>
double sum_by_offset(std::int64_t count, std::int64_t step, const Of& of) {
  const std::int64_t period = kSectorBytes / std::gcd(step, kSectorBytes);
  double sum = 0;
  for (std::int64_t i = 0; i < std::min(period, count); ++i) {
    sum += as_double(ceil_div(count - i, period)) * of(i * step);
  }
  return sum;
}

// Σ of what `of_run(offset, bytes)` says of runs of `width` elements, from the start of each row.
template <class OfRun>
double sum_over_runs(const DenseMatrix& matrix, std::int64_t width, const OfRun& of_run) {
  const std::int64_t whole = matrix.columns / width;
  const std::int64_t step = width * matrix.element_bytes;
  const std::int64_t rest = matrix.pitch_bytes() - whole * step;
  return sum_by_offset(matrix.rows, matrix.pitch_bytes(), [&](std::int64_t row) {
    return of_run(row + whole * step, rest) +
           sum_by_offset(whole, step, [&](std::int64_t run) { return of_run(row + run, step); });
  });
}

}  // namespace

double sectors_of_run(std::int64_t offset_bytes, std::int64_t bytes) {
  return bytes <= 0 ? 0 : as_double((offset_bytes % kSectorBytes + bytes - 1) / kSectorBytes + 1);
}

double sectors_along_rows(const DenseMatrix& matrix, std::int64_t width) {
  return sum_over_runs(matrix, width, sectors_of_run);
}

double partial_sectors_along_rows(const DenseMatrix& matrix, std::int64_t width) {
  return sum_over_runs(matrix, width, partial_sectors_of_run);
}

double sectors_down_columns(const DenseMatrix& matrix) {
  // Each row's element in a sector of its own, or as many together as rows fit in one.
  return as_double(matrix.columns * matrix.rows) *
         std::min(1.0, as_double(matrix.pitch_bytes()) / as_double(kSectorBytes));
}

}  // namespace roofcast
