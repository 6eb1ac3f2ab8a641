// The reference in float64, and the results of the forward pass that the backward pass reads
// (fill). Scores of some heads, or of some queries of a head, are in memory as float64; a plain
// tiled GEMM computes them and the results from them. The queries of the heads that share K and V
// follow each other, so they are the rows of one matrix.
#include "kernels/attention/attention.hpp"

#include <algorithm>
#include <cmath>
#include <memory>

#include "kernels/common/element.cuh"
#include "kernels/common/error.hpp"

namespace roofcast::cuda::attention {
namespace {

constexpr int kThreads = 256;
constexpr int kTile = 64, kDepth = 16, kEach = 4;            // a thread has 4×4 sums, 16 apart
constexpr std::int64_t kMostScores = std::int64_t{1} << 26;  // 512 MiB

/// Element (i, j) of matrix z is at z·matrix + i·row + j·column.
template <class T>
struct View {
  T* data;
  std::int64_t matrix, row, column;

  View transposed() const { return {data, matrix, column, row}; }
};

/// C = scale·A·B, or C += scale·A·B (`add`): matrix blockIdx.y of each, m×k by k×n.
template <class A, class B, class C>
__global__ void __launch_bounds__(kThreads)
    reference_product_kernel(int m, int n, int k, View<A> a, View<B> b, View<C> c, double scale,
                             bool add) {
  __shared__ double left[kDepth][kTile + 1], right[kDepth][kTile + 1];
  const int across = (n + kTile - 1) / kTile;
  const int row0 = static_cast<int>(blockIdx.x) / across * kTile;
  const int column0 = static_cast<int>(blockIdx.x) % across * kTile;
  const auto thread = static_cast<int>(threadIdx.x);
  const int x = thread % 16, y = thread / 16;
  a.data += blockIdx.y * a.matrix, b.data += blockIdx.y * b.matrix, c.data += blockIdx.y * c.matrix;
  double sum[kEach][kEach] = {};
  for (int k0 = 0; k0 < k; k0 += kDepth) {
    __syncthreads();
#pragma unroll
    for (int e = 0; e < kTile * kDepth / kThreads; ++e) {
      const int at = thread + e * kThreads;
      {  // neighbouring threads read neighbouring elements
        const int i = a.column == 1 ? at / kDepth : at % kTile;
        const int l = a.column == 1 ? at % kDepth : at / kTile;
        const bool inside = row0 + i < m && k0 + l < k;
        left[l][i] =
            inside ? static_cast<double>(widen(a.data[(row0 + i) * a.row + (k0 + l) * a.column]))
                   : 0.0;
      }
      const int j = b.column == 1 ? at % kTile : at / kDepth;
      const int l = b.column == 1 ? at / kTile : at % kDepth;
      const bool inside = column0 + j < n && k0 + l < k;
      right[l][j] =
          inside ? static_cast<double>(widen(b.data[(k0 + l) * b.row + (column0 + j) * b.column]))
                 : 0.0;
    }
    __syncthreads();
#pragma unroll
    for (int l = 0; l < kDepth; ++l) {
      double of_a[kEach], of_b[kEach];
#pragma unroll
      for (int e = 0; e < kEach; ++e) of_a[e] = left[l][y + 16 * e], of_b[e] = right[l][x + 16 * e];
#pragma unroll
      for (int i = 0; i < kEach; ++i) {
#pragma unroll
        for (int j = 0; j < kEach; ++j) sum[i][j] = fma(of_a[i], of_b[j], sum[i][j]);
      }
    }
  }
#pragma unroll
  for (int i = 0; i < kEach; ++i) {
#pragma unroll
    for (int j = 0; j < kEach; ++j) {
      const int row = row0 + y + 16 * i, column = column0 + x + 16 * j;
      if (row >= m || column >= n) continue;
      C& to = c.data[row * c.row + column * c.column];
      const double before = add ? static_cast<double>(widen(to)) : 0.0;
      to = narrow<C>(before + scale * sum[i][j]);
    }
  }
}

/// Reduces one value of each thread of a block; all threads get the result.
template <class Combine>
__device__ double all_of(double mine, Combine combine) {
  __shared__ double shared[kThreads];
  __syncthreads();
  shared[threadIdx.x] = mine;
  __syncthreads();
  for (unsigned half = kThreads / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) {
      shared[threadIdx.x] = combine(shared[threadIdx.x], shared[threadIdx.x + half]);
    }
    __syncthreads();
  }
  return shared[0];
}
struct Sum {
  __device__ double operator()(double a, double b) const { return a + b; }
};
struct Largest {
  __device__ double operator()(double a, double b) const { return fmax(a, b); }
};

/// The rows of scores of a part: `rows` of each head, from row `row0` of its group's queries on.
struct Rows {
  std::int64_t row0, rows, group_rows;  ///< group_rows: all queries of a head of K and V
  int seq_q, seq_kv;
  bool causal;

  /// The number of keys that row r sees, and the row's place among the queries from head 0 on.
  __device__ int visible(std::int64_t r) const {
    return causal ? static_cast<int>((row0 + r) % seq_q) + 1 + seq_kv - seq_q : seq_kv;
  }
  __device__ std::int64_t place(std::int64_t r) const { return blockIdx.y * group_rows + row0 + r; }
};

/// Replaces scaled scores by P and writes the log-sum-exp of each row. A block a row.
template <class Lse>
__global__ void __launch_bounds__(kThreads)
    reference_softmax_kernel(Rows rows, double* scores, Lse* lse) {
  const std::int64_t r = blockIdx.x;
  double* const row = scores + (blockIdx.y * rows.rows + r) * rows.seq_kv;
  const int visible = rows.visible(r), thread = static_cast<int>(threadIdx.x);
  double max = -INFINITY, sum = 0;
  for (int j = thread; j < visible; j += kThreads) max = fmax(max, row[j]);
  max = all_of(max, Largest());
  for (int j = thread; j < visible; j += kThreads) sum += exp(row[j] - max);
  sum = all_of(sum, Sum());
  for (int j = thread; j < rows.seq_kv; j += kThreads) {
    row[j] = j < visible ? exp(row[j] - max) / sum : 0.0;
  }
  if (thread == 0) lse[rows.place(r)] = static_cast<Lse>(max + log(sum));
}

/// Replaces scaled scores by P = e^(score - lse), and dP by dS = P∘(dP - D)·scale; D = Σ dO∘O.
template <class T>
__global__ void __launch_bounds__(kThreads)
    reference_gradient_kernel(Rows rows, double* scores, double* dp, const T* grad, const T* out,
                              const float* lse, int dim, double scale) {
  const std::int64_t r = blockIdx.x, place = rows.place(r);
  const std::int64_t first = (blockIdx.y * rows.rows + r) * rows.seq_kv;
  const int visible = rows.visible(r), thread = static_cast<int>(threadIdx.x);
  double d = 0;
  for (int c = thread; c < dim; c += kThreads) {
    d += static_cast<double>(widen(grad[place * dim + c])) * widen(out[place * dim + c]);
  }
  d = all_of(d, Sum());
  for (int j = thread; j < rows.seq_kv; j += kThreads) {
    const double p = j < visible ? exp(scores[first + j] - static_cast<double>(lse[place])) : 0.0;
    scores[first + j] = p;
    dp[first + j] = p * (dp[first + j] - d) * scale;
  }
}

struct Free {
  cudaStream_t stream;
  void operator()(void* p) const { (void)cudaFreeAsync(p, stream); }
};
std::unique_ptr<double, Free> take(std::int64_t elements, cudaStream_t stream) {
  void* p = nullptr;
  check(cudaMallocAsync(&p, static_cast<std::size_t>(elements) * sizeof(double), stream));
  return {static_cast<double*>(p), Free{stream}};
}

/// Some heads of K and V from `head0`, and some of their queries.
struct Part {
  std::int64_t head0, heads;
  Rows rows;
};

/// Calls visit(part) for parts that cover all scores, each of at most kMostScores (or one row).
template <class Visit>
void for_each_part(const Shape& s, Visit&& visit) {
  const std::int64_t group_rows = s.group() * s.seq_q, all = s.batch * s.kv_heads;
  const std::int64_t rows = std::clamp<std::int64_t>(kMostScores / s.seq_kv, 1, group_rows);
  const std::int64_t heads =
      std::clamp<std::int64_t>(kMostScores / (rows * s.seq_kv), 1, std::min(all, kMostBlocksYZ));
  for (std::int64_t head = 0; head < all; head += heads) {
    for (std::int64_t row = 0; row < group_rows; row += rows) {
      visit(Part{head,
                 std::min(heads, all - head),
                 {row, std::min(rows, group_rows - row), group_rows, static_cast<int>(s.seq_q),
                  static_cast<int>(s.seq_kv), s.causal}});
    }
  }
}

/// Grids, views and GEMMs for the parts of a problem, on one stream.
class Computation {
 public:
  Computation(const Shape& shape, cudaStream_t stream)
      : s_(shape), scale_(1 / std::sqrt(static_cast<double>(shape.head_dim))), stream_(stream) {}

  double scale() const { return scale_; }
  dim3 grid(const Part& part) const {
    return {static_cast<unsigned>(part.rows.rows), static_cast<unsigned>(part.heads)};
  }
  std::int64_t scores() const {
    std::int64_t most = 0;
    for_each_part(s_, [&](const Part& part) {
      most = std::max(most, part.heads * part.rows.rows * s_.seq_kv);
    });
    return most;
  }
  std::int64_t first_place(const Part& part) const { return part.head0 * part.rows.group_rows; }

  /// The part's rows of a matrix of queries, its heads' rows of a matrix of keys, its scores.
  template <class T>
  View<T> queries(T* all, const Part& part) const {
    return {all + (first_place(part) + part.rows.row0) * s_.head_dim,
            part.rows.group_rows * s_.head_dim, s_.head_dim, 1};
  }
  template <class T>
  View<T> keys(T* all, const Part& part) const {
    return {all + part.head0 * s_.seq_kv * s_.head_dim, s_.seq_kv * s_.head_dim, s_.head_dim, 1};
  }
  View<double> scores(double* all, const Part& part) const {
    return {all, part.rows.rows * s_.seq_kv, s_.seq_kv, 1};
  }

  template <class A, class B, class C>
  void product(const Part& part, std::int64_t m, std::int64_t n, std::int64_t k, View<A> a,
               View<B> b, View<C> c, double scale = 1, bool add = false) const {
    const std::int64_t tiles = (m + kTile - 1) / kTile * ((n + kTile - 1) / kTile);
    reference_product_kernel<<<dim3(static_cast<unsigned>(tiles),
                                    static_cast<unsigned>(part.heads)),
                               kThreads, 0, stream_>>>(static_cast<int>(m), static_cast<int>(n),
                                                       static_cast<int>(k), a, b, c, scale, add);
    check(cudaGetLastError());
  }

 private:
  Shape s_;
  double scale_;
  cudaStream_t stream_;
};

template <class T, class Out, class Lse>
void forward(const Shape& s, const T* q, const T* k, const T* v, Out* o, Lse* lse,
             cudaStream_t stream) {
  const Computation compute(s, stream);
  const auto scores = take(compute.scores(), stream);
  for_each_part(s, [&](const Part& part) {
    const View<double> p = compute.scores(scores.get(), part);
    const std::int64_t rows = part.rows.rows;
    compute.product(part, rows, s.seq_kv, s.head_dim, compute.queries(q, part),
                    compute.keys(k, part).transposed(), p, compute.scale());
    reference_softmax_kernel<<<compute.grid(part), kThreads, 0, stream>>>(
        part.rows, scores.get(), lse + compute.first_place(part));
    compute.product(part, rows, s.head_dim, s.seq_kv, p, compute.keys(v, part),
                    compute.queries(o, part));
  });
}

template <class T>
void backward(const Shape& s, std::span<const void* const> inputs, std::span<double* const> outputs,
              cudaStream_t stream) {
  const auto in = [&](std::size_t i) { return static_cast<const T*>(inputs[i]); };
  const Computation compute(s, stream);
  const auto scores = take(compute.scores(), stream), gradients = take(compute.scores(), stream);
  for_each_part(s, [&](const Part& part) {
    const View<double> p = compute.scores(scores.get(), part),
                       ds = compute.scores(gradients.get(), part);
    const std::int64_t rows = part.rows.rows, n = s.seq_kv, d = s.head_dim;
    const auto q = compute.queries(in(kQ), part), grad = compute.queries(in(kDO), part);
    const auto k = compute.keys(in(kK), part), v = compute.keys(in(kV), part);
    compute.product(part, rows, n, d, q, k.transposed(), p, compute.scale());
    compute.product(part, rows, n, d, grad, v.transposed(), ds);
    const std::int64_t first = compute.first_place(part);
    reference_gradient_kernel<<<compute.grid(part), kThreads, 0, stream>>>(
        part.rows, scores.get(), gradients.get(), in(kDO) + first * d, in(kO) + first * d,
        static_cast<const float*>(inputs[kLse]) + first, static_cast<int>(d), compute.scale());
    const bool add = part.rows.row0 > 0;
    compute.product(part, rows, d, n, ds, k, compute.queries(outputs[kOutDQ], part));
    compute.product(part, n, d, rows, ds.transposed(), q, compute.keys(outputs[kOutDK], part), 1,
                    add);
    compute.product(part, n, d, rows, p.transposed(), grad, compute.keys(outputs[kOutDV], part), 1,
                    add);
  });
}

}  // namespace

void reference(const Problem& p, std::span<const void* const> inputs,
               std::span<double* const> outputs, cudaStream_t stream) {
  const Shape s(p);
  visit_up_to_fp32(p.dtype, [&]<class T>(std::type_identity<T>) {
    if constexpr (sizeof(T) == 2) {
      const auto in = [&](std::size_t i) { return static_cast<const T*>(inputs[i]); };
      if (s.backward) return backward<T>(s, inputs, outputs, stream);
      forward(s, in(kQ), in(kK), in(kV), outputs[kOutO], outputs[kOutLse], stream);
    }
  });
  check(cudaGetLastError());
}

void fill(const Problem& p, std::span<void* const> inputs, std::uint64_t /*seed*/,
          cudaStream_t stream) {
  const Shape s(p);
  if (!s.backward) return;
  visit_up_to_fp32(p.dtype, [&]<class T>(std::type_identity<T>) {
    if constexpr (sizeof(T) == 2) {
      const auto in = [&](std::size_t i) { return static_cast<const T*>(inputs[i]); };
      forward(s, in(kQ), in(kK), in(kV), static_cast<T*>(inputs[kO]),
              static_cast<float*>(inputs[kLse]), stream);
    }
  });
  check(cudaGetLastError());
}

bool repeats(const Problem& p) {
  return !Shape(p).backward || p[roofcast::attention::kDq] != roofcast::attention::kAtomic;
}

}  // namespace roofcast::cuda::attention
