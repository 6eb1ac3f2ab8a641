#pragma once
// How A and B come to a tensor kernel. Copy instructions of 16 bytes and more take rows and
// addresses that are multiples of 16 bytes; operands that are not are copied first to rows that are
// (passes.hpp): one more pass over them, which a large product outweighs by far. So are A stored by
// rows of k, and B where the kernel reads it only along k. The scratch of a problem has room for
// what its sizes make necessary; where only an address is to blame, memory of the stream is taken.
#include <memory>
#include <vector>

#include "kernels/gemm/tensor.hpp"

namespace roofcast::cuda::gemm {

/// The problem with B as the kernel reads it; A is read along k always.
constexpr Problem with_layout(Problem p, bool b_along_k) {
  if (b_along_k) p[kTransposedB] = 1;
  return p;
}

/// Adds what copies of the operands take to `tensors.scratch`.
void add_operand_scratch(Tensors& tensors, const Problem&, bool b_along_k);
/// The launches that copy operands of aligned addresses.
std::vector<Launch> operand_launches(const Problem&, bool b_along_k);

/// A and B, copied where need be; what was taken for copies is given back with it, in the stream's
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
  /// The shape of the product of what is read in their place.
  Shape shape(const Problem&) const;
  /// The first position in Addresses::scratch that copies left free.
  std::size_t next_scratch() const { return next_scratch_; }

 private:
  struct Memory;
  Rows a_, b_;
  std::size_t next_scratch_ = 0;
  std::vector<Memory> memory_;
};

}  // namespace roofcast::cuda::gemm
