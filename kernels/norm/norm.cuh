#pragma once
// Normalization of rows, forward and backward, with n = cols and ε = 1e-5:
//
//   layernorm  x̂ = (x - μ)·r,  μ = Σx / n,  r = 1/√(Σ(x - μ)² / n + ε),   y = γ·x̂ + β
//   rmsnorm    x̂ = x·r,                     r = 1/√(Σx² / n + ε),         y = γ·x̂
//
//   backward   g = γ·dy,  dx = r·(g - Σg / n - x̂·Σ(g·x̂) / n),  dγ = Σ_rows dy·x̂,  dβ = Σ_rows dy
//              (rmsnorm: no Σg and no dβ)
//
// Tensors, in this order; μ and r are fp32, the others of the element type:
//   forward    in  x, γ (, β)                 out  y (, μ), r
//   backward   in  x, dy, γ (, μ), r          out  dx, dγ (, dβ)
// The forward pass writes μ and r because the backward pass needs them: 8 (4) bytes a row.
#include <vector>

#include "kernels/common/rows.cuh"
#include "model/kernels/norm/norm.hpp"

namespace roofcast::cuda::norm {

using roofcast::norm::is_streamed;
using roofcast::norm::kEpsilon;
using roofcast::norm::Kind;
using roofcast::norm::kPass;
using roofcast::norm::kStaging;

/// The arguments of the forward kernels.
template <class T>
struct Forward {
  const T *x, *gamma, *beta;
  T* y;
  float *mean, *rstd;
};

/// The arguments of the backward kernels. Partial sums are [strips, cols].
template <class T>
struct Backward {
  const T *x, *dy, *gamma;
  const float *mean, *rstd;
  T *dx, *dgamma, *dbeta;
  float *partial_gamma, *partial_beta;
};

// The two passes, each in its files.
std::string unsupported_forward(Kind, const Problem&);
std::vector<Launch> forward_launches(Kind, const Problem&);
void run_forward(Kind, const Problem&, const Addresses&, cudaStream_t);
std::string unsupported_backward(Kind, const Problem&);
std::vector<Launch> backward_launches(Kind, const Problem&);
void run_backward(Kind, const Problem&, const Addresses&, cudaStream_t);
/// The compiled kernel of backward_ring.cu. Its arguments: Backward, rows, cols, stages.
template <class T>
const void* find_backward_ring(Kind, bool clustered);
/// Rows of partial sums in scratch, one a strip: enough for any alignment of the addresses.
std::int64_t strips(const Problem&);

}  // namespace roofcast::cuda::norm
