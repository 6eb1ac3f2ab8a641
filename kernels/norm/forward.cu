// Normalization forward, the row in registers: x is read once, y written once.
//
// The structure is that of softmax.registers (kernels/softmax/registers.cu): a warp or a block has
// a row, and several blocks fit an SM and keep bytes in flight. The difference is that every row
// reads γ and β. They come from L1, which keeps them as long as γ, β and the rows of the SM's
// blocks fit. They are loaded after the statistics: held before, each would take as many registers
// as x and leave room for fewer rows in flight. The first vector of a ragged row lies at a column
// that depends on the row's address; a vector of γ or β is then shifted out of the two aligned
// vectors that contain it.
//
// L1 cannot keep γ and β of longer rows: forward_ring.cu is for them where the device has bulk
// copies and rows are multiples of 16 bytes, else forward_several.cu.
#include <array>
#include <string>

#include "kernels/norm/forward.cuh"

namespace roofcast::cuda::norm {
namespace {

using roofcast::norm::forward_layout;
using roofcast::norm::kMostThreads;

template <class T, int kVectors, Kind kKind>
__global__ void __launch_bounds__(kMaxThreads, 2)
    forward_kernel(Forward<T> at, std::int64_t rows, int cols, int /*rows_per_cluster*/) {
  constexpr int kWidth = rows::kWidth<T>;
  constexpr bool kCentred = kKind == Kind::layernorm;
  __shared__ Part parts[kMaxWarps];
  const int thread = static_cast<int>(threadIdx.x), threads = static_cast<int>(blockDim.x);
  const std::int64_t row = std::int64_t{blockIdx.x} * blockDim.y + threadIdx.y;
  if (row >= rows) return;  // happens only with a warp a row, where no barrier follows
  const T* const from = at.x + row * cols;
  T* const to = at.y + row * cols;
  const rows::RowShape<T> shape = rows::shape_of<true>(from, cols);
  const auto in_row = [&](int i) { return thread + i * threads < shape.body; };
  const auto column = [&](int i) { return shape.head + (thread + i * threads) * kWidth; };
  const int edge = shape.edge_column(thread);

  rows::Packed in[kVectors];
#pragma unroll
  for (int i = 0; i < kVectors; ++i) {
    in[i] = rows::padding<T, rows::Pad::zero>();
    if (in_row(i)) in[i] = rows::load_packed<true>(from + column(i));
  }
  const float edge_value = edge < cols ? widen(from[edge]) : 0.0F;
  float value[kVectors * kWidth];
#pragma unroll
  for (int i = 0; i < kVectors; ++i) rows::unpack<T>(in[i], value + i * kWidth);

  const Part warp = part_of_warp<kKind, kWidth, kVectors>(value, in_row, edge < cols, edge_value);
  float2 whole = {warp.y, warp.z / static_cast<float>(cols)};
  if (threads > 32) {
    if (thread % 32 == 0) parts[thread / 32] = warp;
    __syncthreads();
    whole = merge(parts, threads / 32, cols);
  }
  const float mean = kCentred ? whole.x : 0.0F, rstd = rsqrt_of(whole.y);

#pragma unroll
  for (int i = 0; i < kVectors; ++i) {
    if (!in_row(i)) continue;
    const rows::Packed gamma = rows::load_shifted(at.gamma + column(i));
    const rows::Packed beta = kCentred ? rows::load_shifted(at.beta + column(i)) : gamma;
    rows::store_packed<true>(to + column(i),
                             normalized<kKind, T>(value + i * kWidth, mean, rstd, gamma, beta));
  }
  if (edge < cols) to[edge] = normalized_one<kKind>(at, edge_value, mean, rstd, edge);
  if (thread == 0) {
    if constexpr (kCentred) at.mean[row] = mean;
    at.rstd[row] = rstd;
  }
}

/// Three sweeps over the row (rmsnorm: two), element by element, for addresses that the other
/// kernels cannot take. The grid is that of the kernel it stands in for, so a block strides over
/// the rows.
template <class T, Kind kKind>
__global__ void __launch_bounds__(kMaxThreads, 1)
    by_element_kernel(Forward<T> at, std::int64_t rows, int cols, int /*rows_per_cluster*/) {
  __shared__ float sums[2][kMaxWarps];
  for (std::int64_t row = std::int64_t{blockIdx.x} * blockDim.y + threadIdx.y; row < rows;
       row += std::int64_t{gridDim.x} * blockDim.y) {
    const int thread = static_cast<int>(threadIdx.x), threads = static_cast<int>(blockDim.x);
    const T* const from = at.x + row * cols;
    const auto mean_of_row = [&](float mine, float* of_warps) {
      float sum = rows::warp_sum(mine);
      if (threads > 32) {
        if (thread % 32 == 0) of_warps[thread / 32] = sum;
        __syncthreads();
        sum = rows::warp_sum(thread % 32 < threads / 32 ? of_warps[thread % 32] : 0.0F);
      }
      return sum / static_cast<float>(cols);
    };
    float sum = 0, squares = 0;
    if constexpr (kKind == Kind::layernorm) {
      for (int c = thread; c < cols; c += threads) sum += widen(from[c]);
    }
    const float mean = kKind == Kind::layernorm ? mean_of_row(sum, sums[0]) : 0.0F;
    for (int c = thread; c < cols; c += threads) {
      const float off = widen(from[c]) - mean;
      squares = fmaf(off, off, squares);
    }
    const float rstd = rsqrt_of(mean_of_row(squares, sums[1]));
    for (int c = thread; c < cols; c += threads) {
      const float scaled = (widen(from[c]) - mean) * rstd * widen(at.gamma[c]);
      at.y[row * cols + c] =
          narrow<T>(kKind == Kind::layernorm ? scaled + widen(at.beta[c]) : scaled);
    }
    if (thread == 0) {
      if constexpr (kKind == Kind::layernorm) at.mean[row] = mean;
      at.rstd[row] = rstd;
    }
    if (threads > 32) __syncthreads();  // before the next row writes its sums
  }
}

/// The compiled kernel of this file with that many vectors a thread, or nullptr.
template <class T, Kind kKind>
ForwardKernel<T> find(std::int64_t vectors) {
  switch (vectors) {
    case 1:
      return forward_kernel<T, 1, kKind>;
    case 2:
      return forward_kernel<T, 2, kKind>;
    case 4:
      return forward_kernel<T, 4, kKind>;
    case 8:
      if constexpr (sizeof(T) == 4) return forward_kernel<T, 8, kKind>;
      return nullptr;
    default:
      return nullptr;
  }
}

template <class T>
ForwardKernel<T> find(Kind kind, const Problem& p) {
  const rows::Layout layout = forward_layout(p);
  if (is_streamed(p)) return find_forward_ring<T>(kind, layout.cluster > 1);
  if (layout.rows_per_cluster > 1 || layout.cluster > 1) return find_several<T>(kind, layout);
  return kind == Kind::layernorm ? find<T, Kind::layernorm>(layout.vectors)
                                 : find<T, Kind::rmsnorm>(layout.vectors);
}

template <class T>
Forward<T> arguments(Kind kind, const Addresses& at) {
  const bool centred = kind == Kind::layernorm;
  const auto in = [&](std::size_t i) { return static_cast<const T*>(at.inputs[i]); };
  const auto statistic = [&](std::size_t i) { return static_cast<float*>(at.outputs[i]); };
  return {in(0),
          in(1),
          centred ? in(2) : nullptr,
          static_cast<T*>(at.outputs[0]),
          centred ? statistic(1) : nullptr,
          statistic(centred ? 2 : 1)};
}

}  // namespace

std::string unsupported_forward(Kind kind, const Problem& p) {
  if (const std::string why = rows::unsupported_cluster(p[roofcast::norm::kCluster]);
      !why.empty()) {
    return why;
  }
  if (p[roofcast::norm::kRowsPerCluster] < 1) return "rows_per_cluster must be at least 1";
  if (p[roofcast::norm::kVectors] < 1) return "vectors must be at least 1";
  const rows::Layout layout = forward_layout(p);
  if (is_streamed(p)) {
    if (p[roofcast::norm::kVectors] != roofcast::norm::kForwardRingVectors) {
      return "vectors must be 8 for rows that arrive in shared memory";
    }
    if (layout.threads > kMostThreads) return "the row needs a larger cluster, or shorter rows";
    return rows::unsupported_layout(p, layout, "shorter rows");
  }
  return visit_up_to_fp32(p.dtype, [&]<class T>(std::type_identity<T>) -> std::string {
    if (find<T>(kind, p) == nullptr) {
      return "compiled for at most " + std::to_string(roofcast::rows::most_vectors(p.dtype)) +
             " vectors a thread of " + std::string(name(p.dtype)) +
             ", a power of two, and at least half of that for several rows a cluster; asked for " +
             std::to_string(layout.vectors);
    }
    if (layout.threads > kMostThreads) {
      return "a row of " + std::to_string(p[rows::kCols]) + " " + std::string(name(p.dtype)) +
             " needs more than " + std::to_string(kMostThreads) + " threads of " +
             std::to_string(layout.vectors) + " vectors in " + std::to_string(layout.cluster) +
             " blocks: choose a larger cluster, at most 16";
    }
    return rows::unsupported_layout(p, layout, "a larger cluster");
  });
}

std::vector<Launch> forward_launches(Kind kind, const Problem& p) {
  return visit_up_to_fp32(p.dtype, [&]<class T>(std::type_identity<T>) {
    const rows::Layout layout = forward_layout(p);
    const std::int64_t shared = roofcast::norm::forward_bytes(p, kind == Kind::layernorm ? 2 : 1);
    return std::vector{Launch{reinterpret_cast<const void*>(find<T>(kind, p)),
                              rows::grid_of(layout, p[rows::kRows]), rows::block_of(layout),
                              static_cast<std::size_t>(shared)}};
  });
}

void run_forward(Kind kind, const Problem& p, const Addresses& at, cudaStream_t stream) {
  visit_up_to_fp32(p.dtype, [&]<class T>(std::type_identity<T>) {
    const rows::Layout layout = forward_layout(p);
    Forward<T> tensors = arguments<T>(kind, at);
    std::int64_t rows = p[rows::kRows];
    int cols = static_cast<int>(p[rows::kCols]);
    int rows_per_cluster = static_cast<int>(layout.rows_per_cluster);
    void* arguments[] = {&tensors, &rows, &cols, &rows_per_cluster};
    const auto at_vector = [](const void* address) {  // holds for null, as rmsnorm's beta is
      return reinterpret_cast<std::uintptr_t>(address) % rows::kVectorBytes == 0;
    };
    const bool aligned = at_vector(tensors.x) && at_vector(tensors.y) && at_vector(tensors.gamma) &&
                         at_vector(tensors.beta);
    if (is_streamed(p) ? aligned : rows::same_shift(tensors.x, tensors.y)) {
      const Launch launch = forward_launches(kind, p).front();
      rows::launch(launch.function, launch.grid, launch.block, arguments, stream,
                   {.cluster = layout.cluster, .shared_bytes = launch.shared_bytes});
      return;
    }
    const auto* function =
        kind == Kind::layernorm
            ? reinterpret_cast<const void*>(&by_element_kernel<T, Kind::layernorm>)
            : reinterpret_cast<const void*>(&by_element_kernel<T, Kind::rmsnorm>);
    rows::launch(function, rows::grid_of(layout, rows), rows::block_of(layout), arguments, stream);
  });
}

}  // namespace roofcast::cuda::norm
