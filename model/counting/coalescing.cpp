#include "model/counting/coalescing.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "model/counting/integers.hpp"

namespace roofcast {
namespace {

// Units touched by `bytes` bytes that begin at `offset_bytes`.
std::int64_t units_of_run(std::int64_t offset_bytes, std::int64_t bytes, std::int64_t unit_bytes) {
  return bytes <= 0 ? 0 : (offset_bytes % unit_bytes + bytes - 1) / unit_bytes + 1;
}

// Σ of(offset) over the first `count` multiples of `step` bytes. `of` depends only on the offset
// from the boundary of a unit, which repeats after `period` multiples.
template <class Of>
std::int64_t sum_by_offset(std::int64_t count, std::int64_t step, std::int64_t unit_bytes,
                           const Of& of) {
  const std::int64_t period = unit_bytes / std::gcd(step, unit_bytes);
  std::int64_t sum = 0;
  for (std::int64_t i = 0; i < std::min(period, count); ++i) {
    sum += ceil_div(count - i, period) * of(i * step);
  }
  return sum;
}

std::int64_t sectors_of_run(std::int64_t offset_bytes, std::int64_t bytes) {
  return units_of_run(offset_bytes, bytes, kSectorBytes);
}

std::int64_t partial_sectors_of_run(std::int64_t offset_bytes, std::int64_t bytes) {
  if (bytes <= 0) return 0;
  const std::int64_t begin = offset_bytes % kSectorBytes;
  const std::int64_t whole = (begin + bytes) / kSectorBytes - ceil_div(begin, kSectorBytes);
  return sectors_of_run(offset_bytes, bytes) - std::max<std::int64_t>(0, whole);
}

// Σ of_run(offset, bytes) over each row's runs of `width` elements; the last run is the remainder.
template <class OfRun>
double sum_over_runs(const DenseMatrix& matrix, std::int64_t width, const OfRun& of_run) {
  const std::int64_t whole = matrix.columns / width;
  const std::int64_t step = width * matrix.element_bytes;
  const std::int64_t rest = matrix.pitch_bytes() - whole * step;
  const auto of_row = [&](std::int64_t row) {
    const auto of_whole = [&](std::int64_t run) { return of_run(row + run, step); };
    return of_run(row + whole * step, rest) + sum_by_offset(whole, step, kSectorBytes, of_whole);
  };
  return as_double(sum_by_offset(matrix.rows, matrix.pitch_bytes(), kSectorBytes, of_row));
}

}  // namespace

// Lanes with gaps shorter than a unit touch all units between them; with longer gaps no two share.
std::int64_t distinct_units(const WarpAccess& access, std::int64_t unit_bytes) {
  if (access.lanes <= 0) return 0;
  if (access.stride_bytes - access.access_bytes < unit_bytes) {
    return units_of_run(access.offset_bytes,
                        (access.lanes - 1) * access.stride_bytes + access.access_bytes, unit_bytes);
  }
  return sum_by_offset(access.lanes, access.stride_bytes, unit_bytes, [&](std::int64_t lane) {
    return units_of_run(access.offset_bytes + lane, access.access_bytes, unit_bytes);
  });
}

double expected_distinct(double units, double draws) {
  return units > 1 ? -units * std::expm1(draws * std::log1p(-1 / units)) : std::min(units, draws);
}

double random_misses(double draws, double pieces, double held) {
  if (held >= pieces) return expected_distinct(pieces, draws);
  const double share = held / pieces;
  // Draws until `held` distinct pieces were seen: expected_distinct solved for the draws.
  const double until_full = share > 0 ? std::log1p(-share) / std::log1p(-1 / pieces) : 0;
  if (draws <= until_full) return expected_distinct(pieces, draws);
  return held + (draws - until_full) * (1 - share);
}

double sector_hit_share(double table_lines, double streamed_lines, double cache_lines) {
  if (cache_lines <= 0) return 0;
  const auto touched = [&](double accesses) {
    return expected_distinct(table_lines, accesses) + streamed_lines * accesses;
  };
  constexpr int kBisections = 60;
  double low = 0;
  double high = 1e12;  // more accesses than any cache remembers
  for (int i = 0; i < kBisections; ++i) {
    const double middle = (low + high) / 2;
    (touched(middle) < cache_lines ? low : high) = middle;
  }
  const double line_there = expected_distinct(table_lines, low) / table_lines;
  constexpr double same_sector = as_double(kSectorBytes) / as_double(kLineBytes);
  return same_sector * line_there / (1 - (1 - same_sector) * line_there);
}

std::int64_t bank_wavefronts(const WarpAccess& access) {
  constexpr std::int64_t kWord = 4;
  constexpr std::size_t kBanks = 32;
  std::array<std::int64_t, kBanks> words{};
  std::int64_t last = -1;
  for (std::int64_t lane = 0; lane < access.lanes; ++lane) {
    const std::int64_t first_byte = access.offset_bytes + lane * access.stride_bytes;
    const std::int64_t end = (first_byte + access.access_bytes - 1) / kWord;
    for (std::int64_t word = std::max(last + 1, first_byte / kWord); word <= end; ++word) {
      ++words[static_cast<std::size_t>(word) % kBanks];
      last = word;
    }
  }
  return *std::max_element(words.begin(), words.end());
}

std::int64_t shared_wavefronts(const WarpAccess& access) {
  const std::int64_t together = access.access_bytes > 8 ? kWarpLanes / 2 : kWarpLanes;
  std::int64_t sum = 0;
  for (std::int64_t first = 0; first < access.lanes; first += together) {
    WarpAccess part = access;
    part.offset_bytes += first * access.stride_bytes;
    part.lanes = std::min(together, access.lanes - first);
    sum += bank_wavefronts(part);
  }
  return sum;
}

double sectors_along_rows(const DenseMatrix& matrix, std::int64_t width) {
  return sum_over_runs(matrix, width, sectors_of_run);
}

double partial_sectors_along_rows(const DenseMatrix& matrix, std::int64_t width) {
  return sum_over_runs(matrix, width, partial_sectors_of_run);
}

double sectors_down_columns(const DenseMatrix& matrix) {
  return as_double(matrix.columns * matrix.rows) *
         std::min(1.0, as_double(matrix.pitch_bytes()) / as_double(kSectorBytes));
}

double units_of_piece(std::int64_t piece_bytes, std::int64_t pitch_bytes, std::int64_t unit_bytes) {
  const std::int64_t bits = piece_bytes | pitch_bytes | unit_bytes, step = bits & -bits;
  return as_double(piece_bytes + unit_bytes - step) / as_double(unit_bytes);
}

double density_of_pieces(std::int64_t piece_bytes, std::int64_t pitch_bytes) {
  const double lines = units_of_piece(piece_bytes, pitch_bytes, kLineBytes);
  return kDensityOfLines * as_double(piece_bytes) / (lines * as_double(kLineBytes));
}

std::string waste_text(const std::string& pattern, double moved_bytes, double used_bytes) {
  const auto tenths = [](double value) {
    const auto n = static_cast<std::int64_t>(std::llround(value * 10));
    return std::to_string(n / 10) + (n % 10 != 0 ? '.' + std::to_string(n % 10) : "");
  };
  return pattern + ": " + tenths(moved_bytes) + " B moved for " + tenths(used_bytes) + " B used";
}

}  // namespace roofcast
