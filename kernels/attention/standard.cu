// Attention as its formula reads: one kernel per step, intermediate results in memory.
//
// Forward:   S = Q·Kᵀ;  P = softmax(S/√d) over rows, in place of S;  O = P·V.
// Backward:  S = Q·Kᵀ;  dP = dO·Vᵀ;  P = e^(S/√d - lse) and dS = P∘(dP - D)/√d with D = Σ dO∘O, in
//            place of S and dP;  dV = Pᵀ·dO;  dQ = dS·K;  dK = dSᵀ·Q.
//
// The products run on the tensor cores (product.cu). The traffic of the scores makes the kernels
// slow: every step writes and reads 2 bytes per score, 8 bytes in forward and 18 in backward. At d
// = 128 the 4·128 FLOPs of a score take the tensor cores of an H100 as long as 2 bytes take its
// memory. A causal mask saves nothing: all of S is computed, and what the mask hides is set to 0,
// as eager frameworks do.
//
// The queries of the heads that share K and V are the rows of one matrix, so the products for dK
// and dV sum over these heads along k.
//
// Bytes of a forward pass: Q, K, V and O once, and 8 for each score. Rows of scores begin at
// multiples of 128 bytes.
#include <algorithm>
#include <array>
#include <limits>

#include "kernels/attention/attention.hpp"
#include "kernels/attention/product.hpp"
#include "kernels/common/aligned.hpp"
#include "kernels/common/error.hpp"
#include "kernels/common/exponential.cuh"
#include "kernels/common/rows.cuh"

namespace roofcast::cuda::attention {
namespace {

using roofcast::attention::kPass;
using roofcast::attention::standard::kHeldKeys;
using roofcast::attention::standard::kHeldVectors;
using roofcast::attention::standard::kRowThreads;
using roofcast::attention::standard::row_layout;
using roofcast::attention::standard::row_of;
using roofcast::attention::standard::RowLayout;

constexpr int kWidth = 8;  // elements of 16 bytes

/// The scores of all heads, as rows of one matrix.
struct Scores {
  std::int64_t row;  ///< elements from row to row, a multiple of kWidth
  int rows, seq_q, seq_kv;
  bool causal;
  float scale;

  __device__ int visible(int r) const { return causal ? r % seq_q + 1 + seq_kv - seq_q : seq_kv; }
  __device__ int vectors() const { return (seq_kv + kWidth - 1) / kWidth; }
};

/// This thread's row, number threadIdx.y of the block's, and reductions over the row's threads.
struct Row {
  int index;
  bool exists;

  static __device__ Row here(int rows) {
    const auto index = static_cast<std::int64_t>(blockIdx.x) * blockDim.y + threadIdx.y;
    return {static_cast<int>(index < rows ? index : 0), index < rows};
  }
  template <class OfWarp>
  __device__ float all_of(float mine, OfWarp of_warp, float neutral) const {
    __shared__ float parts[kRowThreads / 32];
    mine = of_warp(mine);
    const auto warps = static_cast<int>(blockDim.x / 32);
    if (warps == 1) return mine;
    const auto lane = static_cast<int>(threadIdx.x % 32);
    float* const of_row = parts + static_cast<int>(threadIdx.y) * warps;
    __syncthreads();  // results of an earlier call have been read
    if (lane == 0) of_row[threadIdx.x / 32] = mine;
    __syncthreads();
    return of_warp(lane < warps ? of_row[lane] : neutral);
  }
  __device__ float sum(float mine) const {
    return all_of(
        mine, [](float x) { return rows::warp_sum(x); }, 0.0F);
  }
  __device__ float max(float mine) const {
    return all_of(
        mine, [](float x) { return rows::warp_max(x); }, -INFINITY);
  }
};

/// Unpacks the eight scores of vector `v`; those that the mask hides become -inf.
template <class T>
__device__ void masked(const rows::Packed& packed, int v, int visible, float (&x)[kWidth]) {
  rows::unpack<T>(packed, x);
#pragma unroll
  for (int e = 0; e < kWidth; ++e) x[e] = v * kWidth + e < visible ? x[e] : -INFINITY;
}

__device__ inline float largest_of(const float (&x)[kWidth]) {
  float max = x[0];
#pragma unroll
  for (int e = 1; e < kWidth; ++e) max = fmaxf(max, x[e]);
  return max;
}

/// Returns Σ 2^((x - max)·c); the terms replace x.
__device__ inline float exponentials(float (&x)[kWidth], float max, float c) {
  float sum = 0;
#pragma unroll
  for (int e = 0; e < kWidth; ++e) {
    x[e] = exp2_of((x[e] - max) * c);
    sum += x[e];
  }
  return sum;
}

template <class T>
__device__ rows::Packed scaled(float (&x)[kWidth], float by) {
#pragma unroll
  for (int e = 0; e < kWidth; ++e) x[e] *= by;
  return rows::pack<T>(x);
}

/// Replaces S by P. kHeld: a thread's kHeldVectors vectors stay in registers; else S is read again.
template <class T, bool kHeld>
__global__ void __launch_bounds__(kRowThreads, 1)
    softmax_kernel(const __grid_constant__ Scores scores, T* s, float* lse) {
  const Row row = Row::here(scores.rows);
  const int visible = scores.visible(row.index);
  const int vectors = row.exists ? scores.vectors() : 0;
  const auto first = static_cast<int>(threadIdx.x), step = static_cast<int>(blockDim.x);
  auto* const packed = reinterpret_cast<rows::Packed*>(s + row.index * scores.row);
  const float c = scores.scale * kLog2E;
  float max = -INFINITY, sum = 0;
  if constexpr (kHeld) {
    rows::Packed held[kHeldVectors];
    float x[kHeldVectors][kWidth];
#pragma unroll
    for (int i = 0; i < kHeldVectors; ++i) {
      const int v = first + i * step;
      held[i] = v < vectors ? packed[v] : rows::Packed{};
    }
#pragma unroll
    for (int i = 0; i < kHeldVectors; ++i) {
      masked<T>(held[i], first + i * step, visible, x[i]);
      max = fmaxf(max, largest_of(x[i]));
    }
    max = row.max(max);
#pragma unroll
    for (int i = 0; i < kHeldVectors; ++i) sum += exponentials(x[i], max, c);
    sum = row.sum(sum);
    const float share = 1 / sum;
#pragma unroll
    for (int i = 0; i < kHeldVectors; ++i) {
      const int v = first + i * step;
      if (v < vectors) packed[v] = scaled<T>(x[i], share);
    }
  } else {
    float x[kWidth], mine = -INFINITY;  // a thread's sum is relative to its own maximum
    for (int v = first; v < vectors; v += step) {
      masked<T>(packed[v], v, visible, x);
      const float before = mine;
      mine = fmaxf(mine, largest_of(x));
      sum = sum * exp2_of((before - anchor(mine)) * c) + exponentials(x, anchor(mine), c);
    }
    max = row.max(mine);
    sum = row.sum(sum * exp2_of((mine - anchor(max)) * c));
    const float share = 1 / sum;
    for (int v = first; v < vectors; v += step) {
      masked<T>(packed[v], v, visible, x);
      (void)exponentials(x, max, c);
      packed[v] = scaled<T>(x, share);
    }
  }
  if (row.exists && threadIdx.x == 0) lse[row.index] = max * scores.scale + logf(sum);
}

/// Replaces S by P and dP by dS.
template <class T>
__global__ void __launch_bounds__(kRowThreads, 1)
    gradient_kernel(const __grid_constant__ Scores scores, T* s, T* dp, const T* __restrict__ grad,
                    const T* __restrict__ out, const float* __restrict__ lse, int dim) {
  const Row row = Row::here(scores.rows);
  const int visible = scores.visible(row.index), vectors = scores.vectors();
  const auto first = static_cast<int>(threadIdx.x), step = static_cast<int>(blockDim.x);
  float d = 0;
  for (int v = first; row.exists && v < dim / kWidth; v += step) {
    const std::int64_t at = std::int64_t{row.index} * dim + v * kWidth;
    float x[kWidth], y[kWidth];
    rows::unpack<T>(rows::load_packed<true>(grad + at), x);
    rows::unpack<T>(rows::load_packed<true>(out + at), y);
#pragma unroll
    for (int e = 0; e < kWidth; ++e) d += x[e] * y[e];
  }
  d = row.sum(d);
  if (!row.exists) return;
  auto* const of_s = reinterpret_cast<rows::Packed*>(s + row.index * scores.row);
  auto* const of_dp = reinterpret_cast<rows::Packed*>(dp + row.index * scores.row);
  const float c = scores.scale * kLog2E, shift = lse[row.index] * kLog2E;
#pragma unroll 2
  for (int v = first; v < vectors; v += step) {
    float p[kWidth], ds[kWidth];
    const rows::Packed s_eight = of_s[v], dp_eight = of_dp[v];
    masked<T>(s_eight, v, visible, p);
    rows::unpack<T>(dp_eight, ds);
#pragma unroll
    for (int e = 0; e < kWidth; ++e) {
      p[e] = exp2_of(p[e] * c - shift);
      // dP beyond the last key was not computed.
      ds[e] = v * kWidth + e < visible ? p[e] * (ds[e] - d) * scores.scale : 0.0F;
    }
    of_s[v] = rows::pack<T>(p);
    of_dp[v] = rows::pack<T>(ds);
  }
}

/// The GEMMs of a problem.
class Products {
 public:
  explicit Products(const Shape& s)
      : m_(static_cast<int>(s.group() * s.seq_q)),
        n_(static_cast<int>(s.seq_kv)),
        d_(static_cast<int>(s.head_dim)),
        matrices_(static_cast<int>(s.batch * s.kv_heads)),
        row_(row_of(s.seq_kv)) {}

  /// Queries · keysᵀ: scores.
  Product scores() const {
    return {kNT, {m_, n_, d_, d_, d_, row_, matrices_, queries(), keys(), m_ * row_}};
  }
  /// Scores · keys: rows of queries.
  Product over_keys() const {
    return {kNN, {m_, d_, n_, row_, d_, d_, matrices_, m_ * row_, keys(), queries()}};
  }
  /// Scoresᵀ · queries: rows of keys.
  Product over_queries() const {
    return {kTN, {n_, d_, m_, row_, d_, d_, matrices_, m_ * row_, queries(), keys()}};
  }
  std::int64_t most_tiles() const {
    return std::max({scores().tiles(), over_keys().tiles(), over_queries().tiles()});
  }

 private:
  std::int64_t queries() const { return std::int64_t{m_} * d_; }
  std::int64_t keys() const { return std::int64_t{n_} * d_; }

  int m_, n_, d_, matrices_;
  std::int64_t row_;
};

Scores scores_of(const Shape& s) {
  return {row_of(s.seq_kv),
          static_cast<int>(s.batch * s.heads * s.seq_q),
          static_cast<int>(s.seq_q),
          static_cast<int>(s.seq_kv),
          s.causal,
          1 / std::sqrt(static_cast<float>(s.head_dim))};
}

template <class T>
const void* row_kernel(const Shape& s) {
  if (s.backward) return reinterpret_cast<const void*>(gradient_kernel<T>);
  return s.seq_kv <= kHeldKeys ? reinterpret_cast<const void*>(softmax_kernel<T, true>)
                               : reinterpret_cast<const void*>(softmax_kernel<T, false>);
}

Launch row_launch(const Shape& s, DType dtype) {
  const RowLayout layout = row_layout(s.seq_kv);
  const std::int64_t rows = s.batch * s.heads * s.seq_q;
  return {dtype == DType::fp16 ? row_kernel<__half>(s) : row_kernel<__nv_bfloat16>(s),
          dim3(static_cast<unsigned>(gemm::ceil_div(rows, layout.rows))),
          dim3(static_cast<unsigned>(layout.threads), static_cast<unsigned>(layout.rows)), 0};
}

std::string unsupported(const Problem& p) {
  if (std::string why = unsupported_shape(p); !why.empty()) return why;
  const Shape s(p);
  if (s.batch * s.kv_heads > kMostBlocksYZ) {
    return "attention.standard: batch × kv_heads must be at most " + std::to_string(kMostBlocksYZ);
  }
  if (Products(s).most_tiles() > std::numeric_limits<int>::max()) {
    return "attention.standard: too many tiles of scores for one grid";
  }
  return {};
}

Tensors with_scratch(const Problem& p) {
  const Shape s(p);
  Tensors all = tensors(p);
  const Tensor scores{p.dtype,
                      static_cast<std::size_t>(s.batch * s.heads * s.seq_q * row_of(s.seq_kv))};
  all.scratch.assign(s.backward ? 2 : 1, scores);
  return all;
}

std::vector<Launch> launches(const Problem& p) {
  const Shape s(p);
  const Products products(s);
  const Launch scores = products.scores().launch(p.dtype),
               over_keys = products.over_keys().launch(p.dtype),
               over_queries = products.over_queries().launch(p.dtype),
               rows = row_launch(s, p.dtype);
  if (!s.backward) return {scores, rows, over_keys};
  return {scores, scores, rows, over_queries, over_keys, over_queries};
}

void run_row_kernel(const Shape& s, DType dtype, void** arguments, cudaStream_t stream) {
  const Launch launch = row_launch(s, dtype);
  rows::launch(launch.function, launch.grid, launch.block, arguments, stream);
}

void run_forward(const Problem& p, const Addresses& at, cudaStream_t stream) {
  const Shape s(p);
  const Products products(s);
  Scores scores = scores_of(s);
  void* probabilities = at.scratch[0];
  products.scores().run(p.dtype, at.inputs[kQ], at.inputs[kK], probabilities, stream);
  void* lse = at.outputs[kOutLse];
  void* arguments[] = {&scores, &probabilities, &lse};
  run_row_kernel(s, p.dtype, arguments, stream);
  products.over_keys().run(p.dtype, probabilities, at.inputs[kV], at.outputs[kOutO], stream);
}

void run_backward(const Problem& p, const Addresses& at, cudaStream_t stream) {
  const Shape s(p);
  const Products products(s);
  Scores scores = scores_of(s);
  void *probabilities = at.scratch[0], *gradients = at.scratch[1];
  products.scores().run(p.dtype, at.inputs[kQ], at.inputs[kK], probabilities, stream);
  products.scores().run(p.dtype, at.inputs[kDO], at.inputs[kV], gradients, stream);
  const void *grad = at.inputs[kDO], *out = at.inputs[kO], *lse = at.inputs[kLse];
  int dim = static_cast<int>(s.head_dim);
  void* arguments[] = {&scores, &probabilities, &gradients, &grad, &out, &lse, &dim};
  run_row_kernel(s, p.dtype, arguments, stream);
  products.over_queries().run(p.dtype, probabilities, at.inputs[kDO], at.outputs[kOutDV], stream);
  products.over_keys().run(p.dtype, gradients, at.inputs[kK], at.outputs[kOutDQ], stream);
  products.over_queries().run(p.dtype, gradients, at.inputs[kQ], at.outputs[kOutDK], stream);
}

void run(const Problem& p, const Addresses& at, cudaStream_t stream) {
  run_aligned(p, at, stream, with_scratch, p[kPass] == kBackward ? run_backward : run_forward);
}

constexpr std::array kConfigurations = {
    Problem{.dtype = DType::bf16, .values = {}},
};

}  // namespace

KernelEntry standard() {
  KernelEntry entry = attention_entry("attention.standard", kConfigurations, unsupported,
                                      with_scratch, launches, run);
  entry.tolerance = tolerance_of_rounded_scores;
  return entry;
}

}  // namespace roofcast::cuda::attention
