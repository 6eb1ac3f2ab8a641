#include <algorithm>
#include <array>
#include <bit>

#include "kernels/common/data.hpp"
#include "kernels/common/element.cuh"
#include "kernels/common/error.hpp"

namespace roofcast::cuda {
namespace {

constexpr int kThreads = 256;

dim3 enough_blocks(std::size_t elements) {
  const std::size_t blocks = (elements + kThreads - 1) / kThreads;
  return dim3(static_cast<unsigned>(std::clamp<std::size_t>(blocks, 1, 132 * 16)));
}

// Counter-based: a mixer of (seed, index) in place of a generator with a state.
// The mixer is SplitMix64's finalizer (Steele, Lea, Flood 2014).
__device__ std::uint64_t mix(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15ULL;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

// Box and Muller: two uniform numbers make a normal one.
template <class T>
__global__ void fill_normal_kernel(T* data, std::size_t elements, std::uint64_t seed) {
  const std::size_t step = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < elements;
       i += step) {
    const std::uint64_t bits = mix(mix(seed) ^ i);
    const float u = (static_cast<float>(bits >> 40) + 0.5f) * 0x1p-24f;  // (0, 1)
    const float v = static_cast<float>(bits & 0xffffff) * 0x1p-24f;      // [0, 1)
    data[i] = narrow<T>(sqrtf(-2.0f * logf(u)) * cospif(2.0f * v));
  }
}

// Doubles that are not negative are ordered as their bits are, so an integer maximum serves.
__device__ void atomic_max(unsigned long long* to, double value) {
  atomicMax(to, static_cast<unsigned long long>(__double_as_longlong(value)));
}

template <class T>
__global__ void max_error_kernel(const T* out, const double* reference, std::size_t elements,
                                 unsigned long long* max_difference, unsigned long long* max_ref) {
  double difference = 0, magnitude = 0;
  const std::size_t step = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < elements;
       i += step) {
    const double d = fabs(static_cast<double>(widen(out[i])) - reference[i]);
    difference = isnan(d) ? INFINITY : fmax(difference, d);
    magnitude = fmax(magnitude, fabs(reference[i]));
    if (isnan(d)) break;
  }
  atomic_max(max_difference, difference);
  atomic_max(max_ref, magnitude);
}

}  // namespace

void fill_normal(void* data, DType dtype, std::size_t elements, std::uint64_t seed,
                 cudaStream_t stream) {
  visit_element(dtype, [&]<class T>(std::type_identity<T>) {
    fill_normal_kernel<<<enough_blocks(elements), kThreads, 0, stream>>>(static_cast<T*>(data),
                                                                         elements, seed);
  });
  check(cudaGetLastError());
}

void poison(void* data, DType dtype, std::size_t elements, cudaStream_t stream) {
  const auto bytes = static_cast<std::size_t>(size_bytes(dtype) * static_cast<double>(elements));
  check(cudaMemsetAsync(data, 0xff, bytes, stream));
}

double max_error(const void* out, DType dtype, const double* reference, std::size_t elements,
                 cudaStream_t stream) {
  std::array<unsigned long long, 2> result{};
  unsigned long long* on_device = nullptr;
  check(cudaMalloc(&on_device, sizeof(result)));
  cudaError_t status = cudaMemsetAsync(on_device, 0, sizeof(result), stream);
  visit_element(dtype, [&]<class T>(std::type_identity<T>) {
    max_error_kernel<<<enough_blocks(elements), kThreads, 0, stream>>>(
        static_cast<const T*>(out), reference, elements, on_device, on_device + 1);
  });
  if (status == cudaSuccess) status = cudaGetLastError();
  if (status == cudaSuccess) {
    status = cudaMemcpyAsync(result.data(), on_device, sizeof(result), cudaMemcpyDefault, stream);
  }
  if (status == cudaSuccess) status = cudaStreamSynchronize(stream);
  (void)cudaFree(on_device);
  check(status);
  return std::bit_cast<double>(result[0]) / std::max(1.0, std::bit_cast<double>(result[1]));
}

}  // namespace roofcast::cuda
