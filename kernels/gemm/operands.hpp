#pragma once
// Prepares A and B for a tensor kernel. Copy instructions of 16 bytes and more need rows and
// addresses that are multiples of 16 bytes. Other operands are first copied to such rows
// (passes.hpp), one more pass over them, which a large GEMM outweighs by far. A stored by rows of
// k, and B where the kernel reads it only along k, are transposed first. A problem's scratch has
// room for the copies that its sizes require; where only an address is misaligned, memory is
// allocated on the stream.
#include <memory>
#include <vector>

#include "kernels/gemm/tensor.hpp"

namespace roofcast::cuda::gemm {

/// The problem with B as the kernel reads it; A is always read along k.
constexpr Problem with_layout(Problem p, bool b_along_k) {
  if (b_along_k) p[kTransposedB] = 1;
  return p;
}

/// Adds the memory for copies of the operands to `tensors.scratch`.
void add_operand_scratch(Tensors& tensors, const Problem&, bool b_along_k);
/// The launches that copy operands, for aligned addresses.
std::vector<Launch> operand_launches(const Problem&, bool b_along_k);

/// A and B, copied where necessary. The destructor frees memory allocated for copies, in stream
/// order.
class Operands {
 public:
  Operands(const Problem&, bool b_along_k, const Addresses&, cudaStream_t);
  Operands(const Operands&) = delete;
  Operands& operator=(const Operands&) = delete;
  ~Operands();

  struct Rows {
    const void* data;
    std::int64_t row, stride;  ///< elements from row to row, from matrix to matrix
  };
  const Rows& a() const { return a_; }
  const Rows& b() const { return b_; }
  /// The problem's shape, with the strides of the operands as they are read.
  Shape shape(const Problem&) const;
  /// The first index in Addresses::scratch that copies do not use.
  std::size_t next_scratch() const { return next_scratch_; }

 private:
  struct Memory;
  Rows a_, b_;
  std::size_t next_scratch_ = 0;
  std::vector<Memory> memory_;
};

}  // namespace roofcast::cuda::gemm
