// Normalization forward of long rows: rows stream through shared memory
// (kernels/common/row_ring.cuh). For rows and addresses on multiples of 16 bytes, on devices with
// bulk copies (compute capability 9.0). x is read once and y written once.
//
// The structure is that of softmax.cluster (kernels/softmax/cluster.cu): a block or a cluster takes
// a few rows one after the other, and the next row arrives while this one is reduced. The
// differences:
//   - Each thread keeps γ and β of its columns in shared memory for all rows of its block. With r
//     rows a cluster L2 is read 1 + 2/r times x. A block of 256 threads has 32 KB of a row in
//     registers, and in shared memory as much of γ, of β and of the next row: two blocks fit an SM.
//   - 16-bit elements stay packed in registers and are widened at each use, so a thread can have 64
//     of them.
//   - With c = r·μ: y = (r·x - c)·γ + β. Its errors are like those of rounding x to its type.
#include "kernels/common/row_ring.cuh"
#include "kernels/norm/forward.cuh"

namespace roofcast::cuda::norm {
namespace {

constexpr int kVectors = static_cast<int>(roofcast::norm::kForwardRingVectors);

template <class T, Kind kKind, bool kClustered>
__global__ void __launch_bounds__(kMaxThreads, 1)
    forward_ring_kernel(Forward<T> at, std::int64_t rows, int cols, int rows_per_cluster) {
  constexpr int kWidth = rows::kWidth<T>, kStages = 1;
  constexpr bool kCentred = kKind == Kind::layernorm;
  using Exchange = rows::Exchange<kClustered, kMaxThreads / 32>;
  extern __shared__ __align__(128) unsigned char dynamic[];
  __shared__ typename Exchange::Shared shared;
  Exchange exchange(shared);
  const int threads = static_cast<int>(blockDim.x), thread = static_cast<int>(threadIdx.x);
  auto* const kept = reinterpret_cast<rows::Packed*>(dynamic);  // γ, then β: [vector][thread]
  rows::WarpRing<kVectors> ring(kept + (kCentred ? 2 : 1) * kVectors * threads, kStages);

  const rows::Cluster cluster = exchange.cluster;
  const auto clusters = static_cast<int>(gridDim.x) / cluster.size;
  const auto id = static_cast<int>(blockIdx.x) / cluster.size;
  // A cluster takes every `clusters`-th row, a block without a cluster consecutive rows.
  const std::int64_t stride = kClustered ? clusters : 1;
  const std::int64_t first = kClustered ? id : std::int64_t{id} * rows_per_cluster;
  const std::int64_t past = kClustered ? rows : min(rows, first + rows_per_cluster);
  const int lane = thread % 32, body = cols / kWidth;
  const int begin = exchange.warp() * kVectors * 32;  // this warp's first vector of a row
  const auto vectors_from = [&](int first_vector) {
    return max(0, min(kVectors * 32, body - first_vector));
  };
  const int mine = vectors_from(begin);
  const auto in_row = [&](int i) { return i * 32 + lane < mine; };
  const auto column = [&](int i) { return (begin + i * 32 + lane) * kWidth; };
  const auto prefetch = [&](int ahead, std::int64_t row) {
    if (row >= past) return;
    ring.prefetch(ahead, mine * rows::kVectorBytes,
                  at.x + row * cols + std::int64_t{begin} * kWidth);
  };

  prefetch(0, first);
#pragma unroll
  for (int i = 0; i < kVectors; ++i) {
    if (!in_row(i)) continue;
    kept[i * threads + thread] = rows::load_packed<true>(at.gamma + column(i));
    if constexpr (kCentred) {
      kept[(kVectors + i) * threads + thread] = rows::load_packed<true>(at.beta + column(i));
    }
  }
  const float share = 1.0F / static_cast<float>(cols);
  const float share_of_warp = 1.0F / static_cast<float>(max(1, mine * kWidth));
  exchange.start();
#pragma unroll 1
  for (std::int64_t row = first; row < past; row += stride) {
    rows::Packed in[kVectors];
    ring.wait();
#pragma unroll
    for (int i = 0; i < kVectors; ++i) {
      in[i] = rows::padding<T, rows::Pad::zero>();
      if (in_row(i)) in[i] = ring.vector(0, i);
    }
    ring.release();
    prefetch(kStages - 1, row + kStages * stride);

    float2 part = {0, 0};  // the warp's mean, and its sum of squares about it
    if constexpr (kCentred) {
      float sums[4] = {};
#pragma unroll
      for (int i = 0; i < kVectors; ++i) {
        float value[kWidth];
        rows::unpack<T>(in[i], value);
#pragma unroll
        for (int e = 0; e < kWidth; ++e) sums[e % 4] += value[e];
      }
      part.x = rows::warp_sum((sums[0] + sums[1]) + (sums[2] + sums[3])) * share_of_warp;
    }
    float squares[4] = {};
#pragma unroll
    for (int i = 0; i < kVectors; ++i) {
      if (!in_row(i)) continue;
      float value[kWidth];
      rows::unpack<T>(in[i], value);
#pragma unroll
      for (int e = 0; e < kWidth; ++e) {
        const float off = value[e] - part.x;
        squares[e % 4] = fmaf(off, off, squares[e % 4]);
      }
    }
    part.y = rows::warp_sum((squares[0] + squares[1]) + (squares[2] + squares[3]));

    const float2* const parts = exchange.all(part);
    const auto elements_of = [&](int warp) {
      return static_cast<float>(vectors_from(warp * kVectors * 32) * kWidth);
    };
    float mean = 0, square = 0;
    if constexpr (kCentred) {
#pragma unroll 1
      for (int i = lane; i < exchange.warps; i += 32) mean += elements_of(i) * parts[i].x;
      mean = rows::warp_sum(mean) * share;
    }
#pragma unroll 1
    for (int i = lane; i < exchange.warps; i += 32) {
      const float off = parts[i].x - mean;
      square += kCentred ? fmaf(elements_of(i) * off, off, parts[i].y) : parts[i].y;
    }
    const float rstd = rsqrt_of(rows::warp_sum(square) * share), shift = -mean * rstd;

    T* const to = at.y + row * cols;
#pragma unroll
    for (int i = 0; i < kVectors; ++i) {
      if (!in_row(i)) continue;
      float value[kWidth], scale_of[kWidth], shift_of[kWidth];
      rows::unpack<T>(in[i], value);
      rows::unpack<T>(rows::load_shared(kept + i * threads + thread), scale_of);
      if constexpr (kCentred) {
        rows::unpack<T>(rows::load_shared(kept + (kVectors + i) * threads + thread), shift_of);
      }
#pragma unroll
      for (int e = 0; e < kWidth; ++e) {
        value[e] = kCentred ? fmaf(fmaf(value[e], rstd, shift), scale_of[e], shift_of[e])
                            : value[e] * rstd * scale_of[e];
      }
      rows::store_packed<true>(to + column(i), rows::pack<T>(value));
    }
    if (thread == 0 && cluster.rank == 0) {
      if constexpr (kCentred) at.mean[row] = mean;
      at.rstd[row] = rstd;
    }
  }
}

template <class T, Kind kKind>
ForwardKernel<T> find(bool clustered) {
  return clustered ? forward_ring_kernel<T, kKind, true> : forward_ring_kernel<T, kKind, false>;
}

}  // namespace

template <class T>
ForwardKernel<T> find_forward_ring(Kind kind, bool clustered) {
  return kind == Kind::layernorm ? find<T, Kind::layernorm>(clustered)
                                 : find<T, Kind::rmsnorm>(clustered);
}
template ForwardKernel<float> find_forward_ring<float>(Kind, bool);
template ForwardKernel<__half> find_forward_ring<__half>(Kind, bool);
template ForwardKernel<__nv_bfloat16> find_forward_ring<__nv_bfloat16>(Kind, bool);

}  // namespace roofcast::cuda::norm
