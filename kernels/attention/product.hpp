#pragma once
// Batched GEMMs in a 16-bit type on the tensor cores, for attention.standard.
#include <cuda_runtime.h>

#include <cstdint>

#include "kernels/common/kernel.hpp"
#include "kernels/gemm/tensor.hpp"
#include "model/kernels/attention/tiles.hpp"

namespace roofcast::cuda::attention {

using roofcast::gemm::Layout, roofcast::gemm::kNN, roofcast::gemm::kNT, roofcast::gemm::kTN;

/// C = A·B for each matrix of a batch, all but kTT. Rows and addresses are multiples of 16 bytes.
/// Sums are fp32 and rounded once.
struct Product {
  Layout layout;
  gemm::Shape shape;

  /// Tiles of a matrix C, a block each.
  std::int64_t tiles() const;
  /// Type: bf16 or fp16.
  Launch launch(DType) const;
  void run(DType, const void* a, const void* b, void* c, cudaStream_t) const;
};

}  // namespace roofcast::cuda::attention
