#pragma once
// The launches before and after a product: copies of its operands, their quantization, and sums of
// parts of k.
#include <cstdint>

#include "model/counting/integers.hpp"
#include "model/types/plan.hpp"

namespace roofcast::gemm {

/// How A of an fp8 product, which comes in 16 bits, gets its 8.
enum Quantize : std::int64_t {
  kNothing,        ///< it has them
  kActivations,    ///< by a scale that is known: one launch
  kDynamic,        ///< by the largest |a| of A, an element at a time: four launches
  kDynamicVectors  ///< as later releases do, eight at a time: three
};

/// The arrays that the launches beside a product use.
struct QuantizedArrays {
  ArrayId wide;    ///< A in 16 bits
  ArrayId narrow;  ///< and in 8
  ArrayId scale;
  ArrayId wide_scale;
};

/// What runs before the product; nothing if `how` is kNothing.
LaunchSequence quantization(Quantize how, double elements, const QuantizedArrays& arrays);

/// Adds `splits` parts of each of so many outputs, a thread four of them, their parts loaded
/// together.
Plan sum_of_parts(double outputs, double splits, double result_bytes, ArrayId parts, ArrayId sums);

namespace tensor {

/// Row-major matrices of elements of `size` bytes.
struct Matrix {
  std::int64_t rows, columns, size, count = 1;
  double bytes() const { return as_double(count) * as_double(rows) * as_double(columns * size); }
};

/// The launches of kernels/gemm/passes.cu: rows to rows that are multiples of 128 bytes, the
/// transpose, and C from the sums of parts.
Plan copy_of_rows(const Matrix&, const ArrayUse& from, ArrayId to);
Plan transposed_copy(const Matrix&, const ArrayUse& from, ArrayId to);
Plan sum_of_parts(const Problem&);

}  // namespace tensor
}  // namespace roofcast::gemm
