#pragma once
// What a framework's kernels over rows have in common: a block a row, and later passes that count
// on the caches.
#include <array>

#include "model/kernels/common/rows.hpp"
#include "model/types/kernel_model.hpp"

namespace roofcast::library {

/// Rows that one resident block moves through L2 between its first pass over its row and its
/// second. Where DRAM sets the pace the first pass takes most of a block's life: until its second
/// pass every other block has read a row and written one.
inline constexpr double kFirstReread = 2;
/// The same from there to a third pass: passes that miss take equal time, a third of the blocks
/// are in each, and one in three also writes.
inline constexpr double kNextReread = 4.0 / 3;

/// What a later pass over rows of so many bytes reads again.
constexpr Reuse reread(double bytes, double row_bytes, double rows_apart = kFirstReread) {
  return {.bytes = bytes,
          .distance_bytes = kFirstReread * row_bytes,
          .l2_distance_bytes = rows_apart * row_bytes};
}

/// γ and β, which every row asks for; between two uses an SM reads a row and writes one.
constexpr Reuse parameter_reuse(double rows, double parameter_bytes, double row_bytes) {
  return {.scope = Scope::sm,
          .bytes = rows * parameter_bytes,
          .distinct_bytes = parameter_bytes,
          .distance_bytes = 2 * row_bytes + parameter_bytes};
}

inline constexpr std::array kRowTypes = {DType::fp32, DType::fp16, DType::bf16};

/// Shapes of the table that the forecasts are held against
/// (tests/validation/comparison/reference_test.cpp).
inline constexpr std::array kRowsValidated = {ValidatedRange{rows::kRows, 8192, 4194304},
                                              ValidatedRange{rows::kCols, 768, 16384}};

}  // namespace roofcast::library
