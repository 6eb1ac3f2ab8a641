#pragma once
// What the access kernels share: a launch with one thread for each access, and the reference.
#include <array>
#include <cstdint>

#include "kernels/common/element.cuh"
#include "kernels/common/error.hpp"
#include "kernels/common/kernel.hpp"
#include "kernels/common/vector.cuh"
#include "model/kernels/access/access.hpp"

namespace roofcast::cuda::access {

inline constexpr auto kThreads = static_cast<unsigned>(roofcast::access::kThreads);

inline __device__ std::int64_t thread_index() {
  return std::int64_t{blockIdx.x} * kThreads + threadIdx.x;
}

inline unsigned blocks_for(std::int64_t threads) {
  return static_cast<unsigned>((threads + roofcast::access::kThreads - 1) /
                               roofcast::access::kThreads);
}

/// Calls visitor with the unsigned integer of the type's size: values are moved, not computed with.
template <class Visitor>
decltype(auto) visit_bits(DType dtype, Visitor&& visitor) {
  if (size_bytes(dtype) == 2) return visitor(std::type_identity<std::uint16_t>{});
  if (size_bytes(dtype) == 4) return visitor(std::type_identity<std::uint32_t>{});
  return visitor(std::type_identity<std::uint64_t>{});
}

/// Which element of x the reference copies to y[i], in float64.
enum class Source { strided, offset, gather, same };

template <class T>
__global__ void reference_kernel(Source source, const T* x, const std::uint32_t* index, double* y,
                                 std::int64_t n, std::int64_t first, std::int64_t width) {
  const std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= n) return;
  std::int64_t from = i;
  if (source == Source::strided) from = i / width * first + i % width;
  if (source == Source::offset) from = i + first;
  if (source == Source::gather) from = index[i];
  y[i] = static_cast<double>(widen(x[from]));
}

inline void reference(Source source, const Problem& p, std::int64_t n, std::int64_t first,
                      std::int64_t width, std::span<const void* const> inputs, double* y,
                      cudaStream_t stream) {
  visit_element(p.dtype, [&]<class T>(std::type_identity<T>) {
    reference_kernel<<<blocks_for(n), kThreads, 0, stream>>>(
        source, static_cast<const T*>(inputs[0]), static_cast<const std::uint32_t*>(inputs.back()),
        y, n, first, width);
  });
  check(cudaGetLastError());
}

inline bool moves(DType dtype) {
  return dtype == DType::fp64 || dtype == DType::fp32 || dtype == DType::fp16 ||
         dtype == DType::bf16;
}

inline std::string unsupported_type(const Problem& p) {
  return moves(p.dtype)
             ? ""
             : "access kernels move fp64, fp32, fp16 and bf16, not " + std::string(name(p.dtype));
}

inline Tensor array(const Problem& p, std::int64_t elements) {
  return {p.dtype, static_cast<std::size_t>(elements)};
}

constexpr Problem configuration(std::int64_t second = 0, std::int64_t third = 0) {
  return {.dtype = DType::fp32, .values = {0, second, third}};
}

}  // namespace roofcast::cuda::access
