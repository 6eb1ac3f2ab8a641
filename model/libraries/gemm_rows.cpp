#include "model/libraries/gemm_rows.hpp"

#include <algorithm>
#include <string>

#include "model/kernels/common/plan_parts.hpp"
#include "model/kernels/gemm/gemm.hpp"
#include "model/libraries/gemm.hpp"

namespace roofcast::gemm {

RowLengths library_rows(const Problem& p) {
  RowLengths rows = row_lengths(p, p[kLayout]);
  const auto lead = [](std::int64_t& row, std::int64_t leading, const char* name) {
    if (leading != 0 && leading < row) {
      throw InputError(std::string(name) + " is " + std::to_string(leading) + " and a row holds " +
                       std::to_string(row) + " elements: give at least that, or 0");
    }
    if (leading != 0) row = leading;
  };
  lead(rows.a, p[kLda], "lda");
  lead(rows.b, p[kLdb], "ldb");
  return rows;
}

bool library_aligned(const Problem& p) {
  return narrowest_vector(library_rows(p), p.dtype) * element_bytes(p.dtype) == kVectorBytes;
}

std::int64_t copied_vector(const Problem& p) {
  constexpr std::int64_t kNarrowBytes = 4;
  const std::int64_t element = element_bytes(p.dtype);
  const std::int64_t bytes = narrowest_vector(library_rows(p), p.dtype) * element;
  if (bytes == kVectorBytes) return kVectorBytes / element;
  return std::max<std::int64_t>(1, std::min(bytes, kNarrowBytes) / element);
}

namespace {

// By the names of cuBLAS's kernels, 301 of 319: with whole tiles of 64x64, fewer multiply-adds.
// wgmma takes tf32 along k alone: where both operands lie across it, both are turned.
bool is_small_tf32(const Problem& p) {
  constexpr std::int64_t kSide = 64, kLeastWide = 90'000, kLeastTurned = 1'000'000;
  const std::int64_t least = p[kLayout] == kTN ? kLeastTurned : kLeastWide;
  return ceil_div(p[kM], kSide) * ceil_div(p[kN], kSide) * p[kBatch] * p[kK] < least;
}

}  // namespace

bool takes_wide(const Problem& p, const Gpu& gpu) {
  if (p.dtype == DType::fp32 || !has_wide_products(gpu) || !library_aligned(p)) return false;
  return p.dtype != DType::tf32 || !is_small_tf32(p);
}

}  // namespace roofcast::gemm
