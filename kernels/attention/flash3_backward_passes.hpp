#pragma once
// The kernels before and after the passes of attention.flash3 backward: lse and D of each row, and
// dQ converted to its type and order.
#include <cuda_runtime.h>

#include <cstdint>

#include "kernels/common/kernel.hpp"

namespace roofcast::cuda::attention::flash3_backward {

/// The queries of all heads. In scratch each head has `rows` rows, of which `seq` exist. A row has
/// `head_dim` elements, and `compiled_dim` in the kernels.
struct QueryRows {
  std::int64_t heads, seq, rows, head_dim, compiled_dim;
  DType dtype;
};

/// scaled[head][row] = lse·log2 e, and d[head][row] = Σ dO·O; +∞ and 0 beyond the last row. Clears
/// the sums of dQ where `dq` is given: rows · compiled_dim a head. O and dO are 16-byte aligned.
void prepare(const QueryRows&, const void* out, const void* grad, const float* lse, float* scaled,
             float* d, float* dq, cudaStream_t);
Launch prepare_launch(const QueryRows&);

/// to = scale · the sums of dQ, which lie in tiles of `queries` rows as dq_place says. `to` is
/// 16-byte aligned.
void convert_dq(const QueryRows&, const float* sums, int queries, float scale, void* to,
                cudaStream_t);
Launch convert_dq_launch(const QueryRows&);

}  // namespace roofcast::cuda::attention::flash3_backward
