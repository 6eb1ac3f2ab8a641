#pragma once
// The launches before and after a product: copies of its operands, their quantization, and sums of
// parts of k.
#include <cstdint>

#include "model/counting/integers.hpp"
#include "model/types/plan.hpp"

namespace roofcast::gemm {

/// How A of an fp8 product is converted from 16 bits.
enum Quantize : std::int64_t {
  kNothing,        ///< A has 8 bits
  kActivations,    ///< by a known scale: one launch
  kDynamic,        ///< by its largest |a|, an element at a time: four launches
  kDynamicVectors  ///< eight elements at a time, as later releases do: three launches
};

/// A in 16 bits and in 8, and the scale between them.
struct QuantizedArrays {
  ArrayId wide, narrow, scale, wide_scale;
};

/// What runs before the product; nothing if `how` is kNothing.
LaunchSequence quantization(Quantize how, double elements, const QuantizedArrays& arrays);

/// Adds `splits` parts of each output; a thread takes four outputs and loads their parts together.
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
