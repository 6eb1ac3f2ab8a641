// Normalization backward of long rows: x and dy stream through shared memory
// (kernels/common/row_ring.cuh). For rows and addresses on multiples of 16 bytes, on devices with
// bulk copies (compute capability 9.0). It moves the bytes of backward.cu.
//
// backward.cu holds this row and the next in registers, beside γ and two sums for each column,
// which leaves 8 columns a thread and 640 threads on an SM. A row of 16384 then takes four blocks,
// one on an SM, and nothing else runs there while they exchange the row's two sums: 0.42 of the
// copy rate in fp32, 0.25 in bf16. Here registers hold one row, packed, and the next two are in
// shared memory or on their way: 1.0 and 0.95 (H200, 2^28 elements).
//   - A thread has 16 columns: half the warps of backward.cu, and half the instructions to merge
//     sums.
//   - A row has a cluster of up to 8 blocks, of 128 threads each as long as that suffices. Four
//     such blocks fit an SM and work on different rows, so one computes while another exchanges.
//     Each cluster writes a row of partial sums at its end, so the grid has only those that are
//     resident at once.
//   - With c = r·μ: x̂ = r·x - c, and dx = r·g - r²·b·x - r·(a - c·b), where a and b are the means
//     of g and g·x̂. The errors of these products are like those of rounding x to its type.
#include "kernels/common/row_ring.cuh"
#include "kernels/norm/norm.cuh"

namespace roofcast::cuda::norm {
namespace {

constexpr int kThreads = static_cast<int>(roofcast::norm::kMostThreads);

template <class T, Kind kKind, bool kClustered>
__global__ void __launch_bounds__(kThreads, 1)
    backward_ring_kernel(Backward<T> at, std::int64_t rows, int cols, int stages) {
  constexpr int kWidth = rows::kWidth<T>;
  constexpr int kVectors = static_cast<int>(roofcast::norm::kRingElements) / kWidth;
  constexpr bool kCentred = kKind == Kind::layernorm;
  using Exchange = rows::Exchange<kClustered, kThreads / 32>;
  extern __shared__ __align__(128) unsigned char dynamic[];
  __shared__ typename Exchange::Shared shared;
  Exchange exchange(shared);
  rows::WarpRing<kVectors, 2> ring(dynamic, stages);

  const int blocks = exchange.cluster.size;
  const std::int64_t first = static_cast<int>(blockIdx.x) / blocks;
  const std::int64_t stride = static_cast<int>(gridDim.x) / blocks;
  const int lane = static_cast<int>(threadIdx.x % 32);
  const int begin = exchange.warp() * kVectors * 32;  // this warp's first vector of a row
  const int mine = max(0, min(kVectors * 32, cols / kWidth - begin));
  const auto in_row = [&](int i) { return i * 32 + lane < mine; };
  const auto column = [&](int i) { return (begin + i * 32 + lane) * kWidth; };

  const auto prefetch = [&](int ahead, std::int64_t row) {
    if (row >= rows) return;
    const std::int64_t from = row * cols + std::int64_t{begin} * kWidth;
    ring.prefetch(ahead, mine * rows::kVectorBytes, at.x + from, at.dy + from);
  };
  float next_mean = 0, next_rstd = 0;
  const auto load_statistics = [&](std::int64_t row) {
    if (row >= rows) return;
    if constexpr (kCentred) next_mean = at.mean[row];
    next_rstd = at.rstd[row];
  };

  for (int s = 0; s < stages; ++s) prefetch(s, first + s * stride);
  load_statistics(first);
  rows::Packed gamma[kVectors];
#pragma unroll
  for (int i = 0; i < kVectors; ++i) {
    gamma[i] = rows::padding<T, rows::Pad::zero>();
    if (in_row(i)) gamma[i] = rows::load_packed<true>(at.gamma + column(i));
  }
  float dgamma[kVectors * kWidth] = {}, dbeta[kCentred ? kVectors * kWidth : 1] = {};
  exchange.start();
#pragma unroll 1
  for (std::int64_t row = first; row < rows; row += stride) {
    rows::Packed x[kVectors], dy[kVectors];
    ring.wait();
#pragma unroll
    for (int i = 0; i < kVectors; ++i) {
      x[i] = dy[i] = rows::padding<T, rows::Pad::zero>();
      if (in_row(i)) x[i] = ring.vector(0, i), dy[i] = ring.vector(1, i);
    }
    ring.release();
    prefetch(stages - 1, row + stages * stride);
    const float rstd = next_rstd, shift = -next_mean * next_rstd;
    load_statistics(row + stride);

    float2 sums = {0, 0};  // Σg, Σ(g·x̂)
#pragma unroll
    for (int i = 0; i < kVectors; ++i) {
      float x_of[kWidth], dy_of[kWidth], gamma_of[kWidth];
      rows::unpack<T>(x[i], x_of);
      rows::unpack<T>(dy[i], dy_of);
      rows::unpack<T>(gamma[i], gamma_of);
#pragma unroll
      for (int e = 0; e < kWidth; ++e) {
        const float normal = kCentred ? fmaf(x_of[e], rstd, shift) : x_of[e] * rstd;
        const float g = dy_of[e] * gamma_of[e];  // 0 beyond the row
        dgamma[i * kWidth + e] = fmaf(dy_of[e], normal, dgamma[i * kWidth + e]);
        if constexpr (kCentred) dbeta[i * kWidth + e] += dy_of[e];
        if constexpr (kCentred) sums.x += g;
        sums.y = fmaf(g, normal, sums.y);
      }
    }
    if constexpr (kCentred) sums.x = rows::warp_sum(sums.x);
    sums.y = rows::warp_sum(sums.y);
    const float2* const parts = exchange.all(sums);
    sums = {0, 0};
#pragma unroll 1
    for (int i = lane; i < exchange.warps; i += 32) sums.x += parts[i].x, sums.y += parts[i].y;
    const float share = 1.0F / static_cast<float>(cols);
    const float g_mean = kCentred ? rows::warp_sum(sums.x) * share : 0.0F;
    const float gx_mean = rows::warp_sum(sums.y) * share;
    const float of_x = -rstd * rstd * gx_mean, constant = -rstd * fmaf(shift, gx_mean, g_mean);

    T* const to = at.dx + row * cols;
#pragma unroll
    for (int i = 0; i < kVectors; ++i) {
      if (!in_row(i)) continue;
      float x_of[kWidth], dy_of[kWidth], gamma_of[kWidth];
      rows::unpack<T>(x[i], x_of);
      rows::unpack<T>(dy[i], dy_of);
      rows::unpack<T>(gamma[i], gamma_of);
#pragma unroll
      for (int e = 0; e < kWidth; ++e) {
        dy_of[e] = fmaf(x_of[e], of_x, fmaf(dy_of[e] * gamma_of[e], rstd, constant));
      }
      rows::store_packed<true>(to + column(i), rows::pack<T>(dy_of));
    }
  }

  const std::int64_t partials = first * cols;
#pragma unroll
  for (int i = 0; i < kVectors; ++i) {
    if (!in_row(i)) continue;
#pragma unroll
    for (int e = 0; e < kWidth; ++e) {
      at.partial_gamma[partials + column(i) + e] = dgamma[i * kWidth + e];
      if constexpr (kCentred) at.partial_beta[partials + column(i) + e] = dbeta[i * kWidth + e];
    }
  }
}

template <class T, Kind kKind>
const void* find(bool clustered) {
  return clustered ? reinterpret_cast<const void*>(&backward_ring_kernel<T, kKind, true>)
                   : reinterpret_cast<const void*>(&backward_ring_kernel<T, kKind, false>);
}

}  // namespace

template <class T>
const void* find_backward_ring(Kind kind, bool clustered) {
  return kind == Kind::layernorm ? find<T, Kind::layernorm>(clustered)
                                 : find<T, Kind::rmsnorm>(clustered);
}
template const void* find_backward_ring<float>(Kind, bool);
template const void* find_backward_ring<__half>(Kind, bool);
template const void* find_backward_ring<__nv_bfloat16>(Kind, bool);

}  // namespace roofcast::cuda::norm
