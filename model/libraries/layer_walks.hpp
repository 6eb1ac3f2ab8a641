#pragma once
// How the threads of a launch between products go over its matrix, counted by PyTorch's sources.
#include <cstdint>

#include "model/counting/coalescing.hpp"
#include "model/libraries/layer.hpp"
#include "model/types/plan.hpp"

namespace roofcast::layer {

/// Of double precision, in what the same takes in fp32.
struct DoubleCosts {
  double operation = 2, conversion = 1;
};

/// A launch on its matrix.
struct Counted {
  const Movement& movement;
  DType type;
  double rows, cols, of;
  DoubleCosts doubles{};

  double elements() const;  ///< of what has no matrix, rows
  /// lone: sums that PyTorch has threads for. A row of the table each, or of the matrix where it
  /// has fewer; those ended after so many rows, one more for every so many.
  double most_sums() const;
  double most_parts() const;
  double row_bytes() const { return cols * size_bytes(type); }
  double flops() const { return movement.flops + movement.flops_of * of; }
  double drawn_bytes() const { return expected_distinct(of, rows) * row_bytes(); }
  Traffic of_row() const { return movement.row + of * movement.row_of; }
  Traffic of_elements() const;
  Traffic bytes() const;  ///< what the launch moves, each byte once
  Traffic asked() const;  ///< what its threads ask for: drawn rows, and parameters, each time
};

// aten/src/ATen/native/cuda/MultiTensorApply.cuh.
inline constexpr std::int64_t kChunk = 65536, kChunksOfLaunch = 320;

/// Chunks of one launch, the last of which may be short.
struct Chunks {
  std::int64_t whole = 0;
  double rest = 0;  ///< elements
  double elements() const { return static_cast<double>(whole * kChunk) + rest; }
};

/// The launch by its walk, but for chunks; without arrays.
Plan plan_of(const Counted& one);
Plan over_chunks(const Counted& one, const Chunks& chunks);

}  // namespace roofcast::layer
