#pragma once
// What the plans of the tensor-core products have in common: sizes, arrays, and the launches before
// and after the product.
#include <vector>

#include "model/kernels/gemm_tensor.hpp"
#include "model/kernels/plan_parts.hpp"

namespace roofcast::gemm::tensor {

/// The product in numbers.
struct Sizes {
  explicit Sizes(const Problem& p);
  double m, n, k;
  double element;  ///< bytes of A and B
  double result;   ///< bytes of C
  double a() const { return m * k * element; }
  double b() const { return k * n * element; }
  double c() const { return m * n * result; }
};

/// Sums of parts that blocks write, bytes; 0 where k is not split.
double partial_bytes(const Problem&);

/// The family's work in the type of the tensor cores, C in its own type.
Work product_work(const Problem&);

/// Whether rows of A, and of B, are multiples of 16 bytes.
bool rows_of_a_aligned(const Problem&);
bool rows_of_b_aligned(const Problem&);

/// Throws InputError where the device has no tensor cores for the type.
void require_tensor_cores(const Problem&, const Gpu&);

/// Blocks of a launch that an SM holds, by shared memory and registers; 1 where no rules are known.
std::int64_t resident_blocks(const Launch&, const Gpu&);

/// Parts of k worth a forecast, where `blocks` blocks without parts run on `slots` places: a part is
/// at least three steps long, and parts are for blocks that leave places empty. Those asked for stay.
std::vector<std::int64_t> splits_of(const Problem&, std::int64_t steps, std::int64_t blocks,
                                    std::int64_t slots);

/// Arrays of a program.
enum Array : ArrayId { kA, kB, kC, kParts, kCopyOfA, kCopyOfB };

/// A row-major matrix.
struct Matrix {
  std::int64_t rows, columns, size;
  double bytes() const { return as_double(rows * columns * size); }
};

/// The launches of kernels/gemm/passes.cu: rows to rows that are multiples of 128 bytes, the
/// transpose, and C from the sums of parts.
Plan copy_of_rows(const Matrix&, const ArrayUse& from, ArrayId to);
Plan transposed_copy(const Matrix&, const ArrayUse& from, ArrayId to);
Plan sum_of_parts(const Problem&);

}  // namespace roofcast::gemm::tensor
