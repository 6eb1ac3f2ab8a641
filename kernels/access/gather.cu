// y[i] = x[j[i]]: a warp's load touches one sector for each distinct sector among its 32 indices.
//
//   shuffled   A fixed permutation inside each window of w elements. Up to w = 256, the threads of
//              a block, a block uses every element of its sectors, and L1 answers the repeats. From
//              w = 8192 on a block fetches one 32 B sector for each of its 4 B elements.
//   uniform    Each index is drawn from a table of w elements, which has S sectors. A warp touches
//              S·(1 - (1 - 1/S)^32) of them in the mean. An element moves no further bytes if the
//              table lies in L1, 32 B if in L2, 64 B if in DRAM.
//
// The indices, 4 B each, are read in order.
#include "kernels/access/common.cuh"

namespace roofcast::cuda::access {
namespace {

namespace gather_at = roofcast::access::gather;

template <class T>
__global__ void __launch_bounds__(kThreads)
    gather_kernel(const T* __restrict__ x, const std::uint32_t* __restrict__ index,
                  T* __restrict__ y, std::int64_t n) {
  const std::int64_t i = thread_index();
  if (i < n) y[i] = x[index[i]];
}

/// A random number for each (seed, i), by the finalizer of SplitMix64 (Steele, Lea and Flood 2014).
__device__ std::uint64_t hashed(std::uint64_t seed, std::uint64_t i) {
  std::uint64_t z = seed * 0x9E3779B97F4A7C15ULL + (i + 1) * 0xD1B54A32D192ED03ULL;
  z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9ULL;
  z = (z ^ z >> 27) * 0x94D049BB133111EBULL;
  return z ^ z >> 31;
}

__global__ void index_kernel(std::uint32_t* index, std::int64_t n, std::int64_t window,
                             bool uniform, std::uint64_t seed) {
  const std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const auto mask = static_cast<std::uint64_t>(window - 1);
  const auto at = static_cast<std::uint64_t>(i);
  const std::uint64_t place = uniform
                                  ? hashed(seed, at) & mask
                                  : (at & ~mask) + ((at & mask) * gather_at::kMultiplier & mask);
  index[i] = static_cast<std::uint32_t>(place);
}

const void* gather_function(const Problem& p) {
  return visit_bits(p.dtype, []<class T>(std::type_identity<T>) {
    return reinterpret_cast<const void*>(&gather_kernel<T>);
  });
}

std::string gather_unsupported(const Problem& p) {
  if (std::string why = unsupported_type(p); !why.empty()) return why;
  const std::int64_t window = p[gather_at::kWindow];
  if ((window & (window - 1)) != 0) return "window must be a power of two";
  if (p[gather_at::kElements] >> 32 != 0) return "n must be below 2^32: an index has 4 bytes";
  if (p[gather_at::kDistribution] == gather_at::kShuffled &&
      p[gather_at::kElements] % window != 0) {
    return "n must be a multiple of window for a shuffled gather";
  }
  return {};
}

std::int64_t table_elements(const Problem& p) {
  return p[gather_at::kDistribution] == gather_at::kUniform ? p[gather_at::kWindow]
                                                            : p[gather_at::kElements];
}

constexpr std::array kGatherConfigurations = {
    configuration(4096, gather_at::kUniform), configuration(1024, gather_at::kShuffled),
    configuration(1, gather_at::kShuffled), configuration(1 << 20, gather_at::kUniform)};

}  // namespace

KernelEntry gather() {
  return {
      .name = "access.gather",
      .configurations = kGatherConfigurations,
      .unsupported = gather_unsupported,
      .tensors =
          [](const Problem& p) {
            return Tensors{{array(p, table_elements(p)),
                            Tensor{DType::fp32,
                                   static_cast<std::size_t>(p[gather_at::kElements])}},  // indices
                           {array(p, p[gather_at::kElements])}};
          },
      .launches =
          [](const Problem& p) {
            return std::vector{
                Launch{gather_function(p), blocks_for(p[gather_at::kElements]), kThreads, 0}};
          },
      .run =
          [](const Problem& p, const Addresses& at, cudaStream_t stream) {
            std::int64_t n = p[gather_at::kElements];
            const void* x = at.inputs[0];
            const void* index = at.inputs[1];
            void* y = at.outputs[0];
            std::array<void*, 4> arguments = {&x, &index, &y, &n};
            check(cudaLaunchKernel(gather_function(p), dim3(blocks_for(n)), dim3(kThreads),
                                   arguments.data(), 0, stream));
          },
      .reference =
          [](const Problem& p, std::span<const void* const> inputs,
             std::span<double* const> outputs, cudaStream_t stream) {
            reference(Source::gather, p, p[gather_at::kElements], 0, 1, inputs, outputs[0], stream);
          },
      .tolerance = [](const Problem&, std::size_t) { return 0.0; },
      .fill =
          [](const Problem& p, std::span<void* const> inputs, std::uint64_t seed,
             cudaStream_t stream) {
            const std::int64_t n = p[gather_at::kElements];
            index_kernel<<<blocks_for(n), kThreads, 0, stream>>>(
                static_cast<std::uint32_t*>(inputs[1]), n, p[gather_at::kWindow],
                p[gather_at::kDistribution] == gather_at::kUniform, seed);
            check(cudaGetLastError());
          },
  };
}

}  // namespace roofcast::cuda::access
