#include <cuda_fp8.h>

#include <algorithm>
#include <memory>

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

// Random numbers are counter-based: a mixer of (seed, index), without a state. The mixer is
// SplitMix64's finalizer (Steele, Lea, Flood 2014).
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
    const float u = (static_cast<float>(bits >> 40) + 0.5f) * 0x1p-24f;  // (0, 1]
    const float v = static_cast<float>(bits & 0xffffff) * 0x1p-24f;      // [0, 1)
    const float normal = sqrtf(-2.0f * logf(u)) * cospif(2.0f * v);
    if constexpr (std::is_same_v<T, __nv_fp8_e4m3>) {
      data[i] = T(normal);
    } else if constexpr (std::is_same_v<T, std::int8_t>) {
      data[i] = static_cast<T>(fminf(fmaxf(rintf(32 * normal), -128), 127));
    } else {
      data[i] = narrow<T>(normal);
    }
  }
}

// The bits of non-negative doubles, as integers, have the same order: an integer maximum serves.
__device__ void atomic_max(double* to, double value) {
  atomicMax(reinterpret_cast<unsigned long long*>(to),
            static_cast<unsigned long long>(__double_as_longlong(value)));
}

__device__ double warp_max(double x) {
  for (int apart = 16; apart > 0; apart /= 2) x = fmax(x, __shfl_xor_sync(0xffffffff, x, apart));
  return x;
}

/// The largest |out - reference| and the largest |reference| of a row.
struct Extremes {
  double difference, magnitude;
};

constexpr std::size_t kChunk = 16 * kThreads;  // elements of a row that a block compares

template <class T>
__global__ void extremes_kernel(const T* out, const double* reference, std::size_t row_elements,
                                std::size_t chunks, std::size_t pitch, std::size_t used,
                                Extremes* rows) {
  const std::size_t row = blockIdx.x / chunks, begin = blockIdx.x % chunks * kChunk;
  const std::size_t past = min(row_elements, begin + kChunk), first = row * row_elements;
  double difference = 0, magnitude = 0;
  for (std::size_t i = begin + threadIdx.x; i < past; i += kThreads) {
    if (used < pitch && (first + i) % pitch >= used) continue;
    const double d = fabs(static_cast<double>(widen(out[first + i])) - reference[first + i]);
    difference = isnan(d) ? INFINITY : fmax(difference, d);
    magnitude = fmax(magnitude, fabs(reference[first + i]));
    if (isnan(d)) break;
  }
  difference = warp_max(difference), magnitude = warp_max(magnitude);
  if (threadIdx.x % 32 != 0) return;
  atomic_max(&rows[row].difference, difference);
  atomic_max(&rows[row].magnitude, magnitude);
}

__global__ void worst_row_kernel(const Extremes* rows, std::size_t count, double* worst) {
  const std::size_t row = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (row >= count) return;
  const Extremes here = rows[row];
  const bool hopeless = isinf(here.difference) || (here.magnitude == 0 && here.difference > 0);
  const double error = hopeless ? INFINITY : here.difference / here.magnitude;
  if (here.difference > 0) atomic_max(worst, error);
}

struct Free {
  void operator()(void* p) const { (void)cudaFree(p); }
};

}  // namespace

void fill_normal(void* data, DType dtype, std::size_t elements, std::uint64_t seed,
                 cudaStream_t stream) {
  const auto fill = [&]<class T>(std::type_identity<T>) {
    fill_normal_kernel<<<enough_blocks(elements), kThreads, 0, stream>>>(static_cast<T*>(data),
                                                                         elements, seed);
  };
  // fp8 and int8 are types of tensor cores' inputs only; visit_element does not know them.
  if (dtype == DType::fp8) {
    fill(std::type_identity<__nv_fp8_e4m3>{});
  } else if (dtype == DType::int8) {
    fill(std::type_identity<std::int8_t>{});
  } else {
    visit_element(dtype, fill);
  }
  check(cudaGetLastError());
}

void poison(void* data, DType dtype, std::size_t elements, cudaStream_t stream) {
  const auto bytes = static_cast<std::size_t>(size_bytes(dtype) * static_cast<double>(elements));
  check(cudaMemsetAsync(data, 0xff, bytes, stream));
}

double max_error(const void* out, const Tensor& tensor, const double* reference,
                 cudaStream_t stream) {
  if (tensor.elements == 0) return 0;
  const std::size_t row = tensor.row == 0 ? tensor.elements : tensor.row;
  const std::size_t rows = tensor.elements / row, chunks = (row + kChunk - 1) / kChunk;
  void* memory = nullptr;
  const std::size_t bytes = (2 * rows + 1) * sizeof(double);
  check(cudaMalloc(&memory, bytes));
  const std::unique_ptr<void, Free> owner(memory);
  auto* const extremes = static_cast<Extremes*>(memory);
  auto* const worst = reinterpret_cast<double*>(extremes + rows);
  check(cudaMemsetAsync(memory, 0, bytes, stream));
  visit_element(tensor.dtype, [&]<class T>(std::type_identity<T>) {
    extremes_kernel<<<static_cast<unsigned>(rows * chunks), kThreads, 0, stream>>>(
        static_cast<const T*>(out), reference, row, chunks, tensor.pitch,
        tensor.pitch - tensor.unused, extremes);
  });
  check(cudaGetLastError());
  worst_row_kernel<<<static_cast<unsigned>((rows + kThreads - 1) / kThreads), kThreads, 0,
                     stream>>>(extremes, rows, worst);
  check(cudaGetLastError());
  double result = 0;
  check(cudaMemcpyAsync(&result, worst, sizeof(result), cudaMemcpyDefault, stream));
  check(cudaStreamSynchronize(stream));
  return result;
}

}  // namespace roofcast::cuda
