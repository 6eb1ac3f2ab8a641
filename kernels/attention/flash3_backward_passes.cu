#include "kernels/attention/flash3_backward_passes.hpp"
#include "kernels/common/exponential.cuh"

#include <cmath>

#include "kernels/attention/flash3_backward_layout.cuh"
#include "kernels/common/rows.cuh"
#include "model/counting/integers.hpp"

namespace roofcast::cuda::attention::flash3_backward {
namespace {

constexpr int kThreads = 256;
constexpr int kOctet = 8;  // elements of 16 bytes

dim3 blocks_for(std::int64_t threads) {
  return dim3(static_cast<unsigned>(ceil_div(threads, std::int64_t{kThreads})));
}
__device__ std::int64_t this_thread() {
  return std::int64_t{blockIdx.x} * kThreads + threadIdx.x;
}

// Octets of a row lie on neighbouring lanes: 8, 16 or 32 of them, a power of two.
template <class T>
__global__ void __launch_bounds__(kThreads)
    prepare_kernel(QueryRows q, const T* out, const T* grad, const float* lse, float* scaled,
                   float* d, float* dq) {
  const auto lanes = static_cast<int>(q.compiled_dim) / kOctet;
  const std::int64_t thread = this_thread(), row = thread / lanes;
  const auto octet = static_cast<int>(thread % lanes);
  const std::int64_t head = row / q.rows, query = row % q.rows;
  const bool there = head < q.heads && query < q.seq;
  const std::int64_t from = head * q.seq + query;
  float sum = 0;
  if (there && octet * kOctet < q.head_dim) {
    float a[kOctet], b[kOctet];
    const std::int64_t place = from * q.head_dim + octet * kOctet;
    rows::unpack<T>(rows::load_packed<true>(out + place), a);
    rows::unpack<T>(rows::load_packed<true>(grad + place), b);
#pragma unroll
    for (int i = 0; i < kOctet; ++i) sum += a[i] * b[i];
  }
  for (int apart = lanes / 2; apart > 0; apart /= 2) {
    sum += __shfl_xor_sync(rows::kAllLanes, sum, apart);
  }
  if (head >= q.heads) return;
  if (octet == 0) {
    scaled[row] = there ? lse[from] * kLog2E : INFINITY;
    d[row] = sum;
  }
  if (dq != nullptr) {
    auto* const to = reinterpret_cast<float4*>(dq + thread * kOctet);
    to[0] = to[1] = float4{};
  }
}

// A warp takes two octets of 16 rows, so that it accesses whole sectors of the sums and of dQ.
template <class T>
__global__ void __launch_bounds__(kThreads)
    convert_dq_kernel(QueryRows q, const float* sums, int queries, float scale, T* to) {
  const auto octets = static_cast<int>(q.compiled_dim) / kOctet;
  const std::int64_t thread = this_thread();
  const std::int64_t pairs = thread / 32;  // two octets of 16 rows
  const auto lane = static_cast<int>(thread % 32);
  const int octet = static_cast<int>(pairs % (octets / 2)) * 2 + lane / 16;
  const std::int64_t row = pairs / (octets / 2) * 16 + lane % 16;
  const std::int64_t head = row / q.rows, query = row % q.rows;
  if (head >= q.heads || query >= q.seq || octet * kOctet >= q.head_dim) return;
  const auto in_tile = static_cast<int>(query % queries);
  const float* const from = sums + (row - in_tile) * q.compiled_dim +
                            dq_place(in_tile, octet, queries, static_cast<int>(q.compiled_dim));
  float values[kOctet];
#pragma unroll
  for (int i = 0; i < kOctet / 2; ++i) {
    const float2 pair = *reinterpret_cast<const float2*>(from + 4 * i);
    values[2 * i] = pair.x * scale, values[2 * i + 1] = pair.y * scale;
  }
  rows::store_packed<true>(to + (head * q.seq + query) * q.head_dim + octet * kOctet,
                           rows::pack<T>(values));
}

std::int64_t octets_of(const QueryRows& q) {
  return q.heads * q.rows * q.compiled_dim / kOctet;
}

}  // namespace

void prepare(const QueryRows& q, const void* out, const void* grad, const float* lse, float* scaled,
             float* d, float* dq, cudaStream_t stream) {
  visit_up_to_fp32(q.dtype, [&]<class T>(std::type_identity<T>) {
    if constexpr (sizeof(T) == 2) {
      prepare_kernel<T><<<blocks_for(octets_of(q)), kThreads, 0, stream>>>(
          q, static_cast<const T*>(out), static_cast<const T*>(grad), lse, scaled, d, dq);
      check(cudaGetLastError());
    }
  });
}

Launch prepare_launch(const QueryRows& q) {
  const void* const kernel = q.dtype == DType::fp16
                                 ? reinterpret_cast<const void*>(prepare_kernel<__half>)
                                 : reinterpret_cast<const void*>(prepare_kernel<__nv_bfloat16>);
  return {kernel, blocks_for(octets_of(q)), dim3(kThreads), 0};
}

void convert_dq(const QueryRows& q, const float* sums, int queries, float scale, void* to,
                cudaStream_t stream) {
  visit_up_to_fp32(q.dtype, [&]<class T>(std::type_identity<T>) {
    if constexpr (sizeof(T) == 2) {
      convert_dq_kernel<T><<<blocks_for(octets_of(q)), kThreads, 0, stream>>>(
          q, sums, queries, scale, static_cast<T*>(to));
      check(cudaGetLastError());
    }
  });
}

Launch convert_dq_launch(const QueryRows& q) {
  const void* const kernel = q.dtype == DType::fp16
                                 ? reinterpret_cast<const void*>(convert_dq_kernel<__half>)
                                 : reinterpret_cast<const void*>(convert_dq_kernel<__nv_bfloat16>);
  return {kernel, blocks_for(octets_of(q)), dim3(kThreads), 0};
}

}  // namespace roofcast::cuda::attention::flash3_backward
