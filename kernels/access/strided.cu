// Coalescing: the cost of a load depends on the addresses of the other lanes of its warp.
//
// A warp's load is one instruction for 32 addresses. L1 looks up the lines of 128 B that they touch
// and fetches whole sectors of 32 B from L2; L2 fetches at least 64 B from DRAM. With 4-byte
// elements, width = 1:
//
//   strided, y[i] = x[i·s]   A warp touches 4·s sectors up to s = 8, then 32, of each of which it
//                            uses 4 B. DRAM moves 4·s B an element up to s = 16, then 64 B.
//   offset, y[i] = x[i+o]    A warp touches 5 sectors in place of 4 unless o is a multiple of 8.
//                            The fifth is the first of the next warp: L1 serves both if the warps
//                            are of one block.
//
// Each thread has one access, so that the pattern is all that a launch does.
#include "kernels/access/common.cuh"

namespace roofcast::cuda::access {
namespace {

namespace strided_at = roofcast::access::strided;
namespace offset_at = roofcast::access::offset;

/// Each thread moves kWidth elements in one access, for aligned addresses.
template <class T, int kWidth>
__global__ void __launch_bounds__(kThreads)
    strided_kernel(const T* __restrict__ x, T* __restrict__ y, std::int64_t accesses,
                   std::int64_t stride) {
  const std::int64_t i = thread_index();
  if (i >= accesses) return;
  using Vec = Vector<T, kWidth* static_cast<int>(sizeof(T))>;
  store(reinterpret_cast<Vec*>(y) + i, load(reinterpret_cast<const Vec*>(x + i * stride)));
}

/// Each thread moves `width` elements one by one, for addresses not aligned for one access.
template <class T>
__global__ void __launch_bounds__(kThreads)
    strided_elements(const T* __restrict__ x, T* __restrict__ y, std::int64_t accesses,
                     std::int64_t stride, int width) {
  const std::int64_t i = thread_index();
  if (i >= accesses) return;
  for (int e = 0; e < width; ++e) y[i * width + e] = x[i * stride + e];
}

template <class T>
__global__ void __launch_bounds__(kThreads)
    offset_kernel(const T* __restrict__ x, T* __restrict__ y, std::int64_t n, std::int64_t shift) {
  const std::int64_t i = thread_index();
  if (i < n) y[i] = x[i + shift];
}

template <class T>
const void* strided_function(std::int64_t width) {
  switch (width * static_cast<std::int64_t>(sizeof(T))) {
    case 2:
    case 4:
    case 8:
    case 16:
      break;
    default:
      return nullptr;
  }
  switch (width) {
    case 1:
      return reinterpret_cast<const void*>(&strided_kernel<T, 1>);
    case 2:
      if constexpr (sizeof(T) <= 8) return reinterpret_cast<const void*>(&strided_kernel<T, 2>);
      break;
    case 4:
      if constexpr (sizeof(T) <= 4) return reinterpret_cast<const void*>(&strided_kernel<T, 4>);
      break;
    case 8:
      if constexpr (sizeof(T) <= 2) return reinterpret_cast<const void*>(&strided_kernel<T, 8>);
      break;
    default:
      break;
  }
  return nullptr;
}

const void* strided_function(const Problem& p) {
  return visit_bits(p.dtype, [&]<class T>(std::type_identity<T>) {
    return strided_function<T>(p[strided_at::kWidth]);
  });
}

std::string strided_unsupported(const Problem& p) {
  if (std::string why = unsupported_type(p); !why.empty()) return why;
  if (strided_function(p) == nullptr) return "width must be 1, 2, 4 or 8, of at most 16 bytes";
  if (p[strided_at::kStride] % p[strided_at::kWidth] != 0 ||
      p[strided_at::kElements] % p[strided_at::kWidth] != 0) {
    return "n and stride must be multiples of width";
  }
  return {};
}

void run_strided(const Problem& p, const Addresses& at, cudaStream_t stream) {
  const void* x = at.inputs[0];
  void* y = at.outputs[0];
  std::int64_t accesses = p[strided_at::kElements] / p[strided_at::kWidth];
  std::int64_t stride = p[strided_at::kStride];
  auto width = static_cast<int>(p[strided_at::kWidth]);
  const auto bytes = static_cast<std::uintptr_t>(size_bytes(p.dtype)) * p[strided_at::kWidth];
  const bool aligned = reinterpret_cast<std::uintptr_t>(x) % bytes == 0 &&
                       reinterpret_cast<std::uintptr_t>(y) % bytes == 0;
  const void* function =
      aligned ? strided_function(p) : visit_bits(p.dtype, []<class T>(std::type_identity<T>) {
        return reinterpret_cast<const void*>(&strided_elements<T>);
      });
  std::array<void*, 5> arguments = {&x, &y, &accesses, &stride, &width};
  check(cudaLaunchKernel(function, dim3(blocks_for(accesses)), dim3(kThreads), arguments.data(), 0,
                         stream));
}

constexpr std::array kStridedConfigurations = {configuration(16, 1),
                                               configuration(1, 1),
                                               configuration(3, 1),
                                               configuration(2, 2),
                                               configuration(12, 4),
                                               configuration(100, 4),
                                               Problem{.dtype = DType::bf16, .values = {0, 8, 8}}};

const void* offset_function(const Problem& p) {
  return visit_bits(p.dtype, []<class T>(std::type_identity<T>) {
    return reinterpret_cast<const void*>(&offset_kernel<T>);
  });
}

constexpr std::array kOffsetConfigurations = {configuration(1), configuration(0), configuration(8),
                                              configuration(37)};

}  // namespace

KernelEntry strided() {
  return {
      .name = "access.strided",
      .configurations = kStridedConfigurations,
      .unsupported = strided_unsupported,
      .tensors =
          [](const Problem& p) {
            const std::int64_t accesses = p[strided_at::kElements] / p[strided_at::kWidth];
            return Tensors{
                {array(p, (accesses - 1) * p[strided_at::kStride] + p[strided_at::kWidth])},
                {array(p, p[strided_at::kElements])}};
          },
      .launches =
          [](const Problem& p) {
            return std::vector{Launch{strided_function(p),
                                      blocks_for(p[strided_at::kElements] / p[strided_at::kWidth]),
                                      kThreads, 0}};
          },
      .run = run_strided,
      .reference =
          [](const Problem& p, std::span<const void* const> inputs,
             std::span<double* const> outputs, cudaStream_t stream) {
            reference(Source::strided, p, p[strided_at::kElements], p[strided_at::kStride],
                      p[strided_at::kWidth], inputs, outputs[0], stream);
          },
      .tolerance = [](const Problem&, std::size_t) { return 0.0; },
  };
}

KernelEntry offset() {
  return {
      .name = "access.offset",
      .configurations = kOffsetConfigurations,
      .unsupported = unsupported_type,
      .tensors =
          [](const Problem& p) {
            return Tensors{{array(p, p[offset_at::kElements] + p[offset_at::kOffset])},
                           {array(p, p[offset_at::kElements])}};
          },
      .launches =
          [](const Problem& p) {
            return std::vector{
                Launch{offset_function(p), blocks_for(p[offset_at::kElements]), kThreads, 0}};
          },
      .run =
          [](const Problem& p, const Addresses& at, cudaStream_t stream) {
            std::int64_t n = p[offset_at::kElements];
            std::int64_t shift = p[offset_at::kOffset];
            const void* x = at.inputs[0];
            void* y = at.outputs[0];
            std::array<void*, 4> arguments = {&x, &y, &n, &shift};
            check(cudaLaunchKernel(offset_function(p), dim3(blocks_for(n)), dim3(kThreads),
                                   arguments.data(), 0, stream));
          },
      .reference =
          [](const Problem& p, std::span<const void* const> inputs,
             std::span<double* const> outputs, cudaStream_t stream) {
            reference(Source::offset, p, p[offset_at::kElements], p[offset_at::kOffset], 1, inputs,
                      outputs[0], stream);
          },
      .tolerance = [](const Problem&, std::size_t) { return 0.0; },
  };
}

}  // namespace roofcast::cuda::access
