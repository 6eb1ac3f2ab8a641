// Bank conflicts. Shared memory has 32 banks of 4 bytes, and each delivers one word a cycle. Reads
// of different words of one bank are serialized: at a stride of s words a 4-byte load takes
// gcd(s, 32) cycles, 32 for s = 32 and one for every odd s. A warp's 64 words of 8-byte accesses
// take 2 cycles at best, the 128 words of 16-byte ones 4: half a warp is served at a time.
//
// Each warp repeats the pattern, shifted by one access each time (8 shifts in turn), so that no
// load repeats the one before: y[i] = Σ_r x[lane·s + (r mod 8)·w + …] for the w words of an access.
#include "kernels/access/common.cuh"

namespace roofcast::cuda::access {
namespace {

namespace shared_at = roofcast::access::shared;

constexpr auto kShifts = static_cast<int>(shared_at::kShifts);

template <int kWidth>
__global__ void __launch_bounds__(kThreads)
    shared_kernel(const float* __restrict__ x, float* __restrict__ y, std::int64_t n, int stride,
                  int words, int repeats, int step) {
  extern __shared__ __align__(16) float memory[];
#pragma unroll 1
  for (int i = static_cast<int>(threadIdx.x); i < words; i += static_cast<int>(kThreads)) {
    memory[i] = x[i];
  }
  __syncthreads();
  using Vec = Vector<float, kWidth * 4>;
  const auto* tile = reinterpret_cast<const Vec*>(memory);
  int first = static_cast<int>(threadIdx.x % 32) * (stride / kWidth);
  float sum[kWidth] = {};
  for (int r = 0; r < repeats; r += kShifts) {
#pragma unroll
    for (int shift = 0; shift < kShifts; ++shift) {
      const Vec read = load(tile + first + shift);
#pragma unroll
      for (int e = 0; e < kWidth; ++e) sum[e] += read.element[e];
    }
    first += step;
  }
  const std::int64_t i = thread_index();
  if (i >= n) return;
  float total = 0;
  for (int e = 0; e < kWidth; ++e) total += sum[e];
  y[i] = total;
}

__global__ void reference_kernel(const float* x, double* y, std::int64_t n, int stride, int width,
                                 int repeats) {
  const std::int64_t i = thread_index();
  if (i >= n) return;
  double sum = 0;
  for (int word = 0; word < kShifts * width; ++word) {
    sum += static_cast<double>(x[static_cast<int>(threadIdx.x % 32) * stride + word]);
  }
  y[i] = sum * (repeats / kShifts);
}

const void* function(const Problem& p) {
  switch (p[shared_at::kWidth]) {
    case 1:
      return reinterpret_cast<const void*>(&shared_kernel<1>);
    case 2:
      return reinterpret_cast<const void*>(&shared_kernel<2>);
    case 4:
      return reinterpret_cast<const void*>(&shared_kernel<4>);
    default:
      return nullptr;
  }
}

std::int64_t words(const Problem& p) {
  return shared_at::words(p[shared_at::kStride], p[shared_at::kWidth]);
}

Launch launch_of(const Problem& p) {
  return {function(p), blocks_for(p[shared_at::kElements]), kThreads,
          static_cast<std::size_t>(4 * words(p))};
}

constexpr Problem configuration(std::int64_t stride, std::int64_t width, std::int64_t repeats) {
  return {.dtype = DType::fp32, .values = {0, stride, width, repeats}};
}

constexpr std::array kConfigurations = {configuration(1, 1, 64), configuration(32, 1, 8),
                                        configuration(2, 2, 16), configuration(4, 4, 8),
                                        configuration(36, 4, 24)};

}  // namespace

KernelEntry shared() {
  return {
      .name = "access.shared",
      .configurations = kConfigurations,
      .unsupported = [](const Problem& p) -> std::string {
        if (p.dtype != DType::fp32) {
          return "access.shared runs in fp32, not " + std::string(name(p.dtype));
        }
        if (function(p) == nullptr) return "width must be 1, 2 or 4 words";
        if (p[shared_at::kStride] % p[shared_at::kWidth] != 0) {
          return "stride must be a multiple of width";
        }
        if (p[shared_at::kRepeats] % shared_at::kShifts != 0) {
          return "repeats must be a multiple of 8";
        }
        return {};
      },
      .tensors =
          [](const Problem& p) {
            return Tensors{
                {Tensor{DType::fp32, static_cast<std::size_t>(words(p))}},
                {Tensor{DType::fp32, static_cast<std::size_t>(p[shared_at::kElements])}}};
          },
      .launches = [](const Problem& p) { return std::vector{launch_of(p)}; },
      .run =
          [](const Problem& p, const Addresses& at, cudaStream_t stream) {
            const void* x = at.inputs[0];
            void* y = at.outputs[0];
            std::int64_t n = p[shared_at::kElements];
            auto stride = static_cast<int>(p[shared_at::kStride]);
            auto count = static_cast<int>(words(p));
            auto repeats = static_cast<int>(p[shared_at::kRepeats]);
            const Launch launch = launch_of(p);
            int step = 0;  // an argument: with a known 0 the compiler would load each word once
            std::array<void*, 7> arguments = {&x, &y, &n, &stride, &count, &repeats, &step};
            check(cudaLaunchKernel(launch.function, launch.grid, launch.block, arguments.data(),
                                   launch.shared_bytes, stream));
          },
      .reference =
          [](const Problem& p, std::span<const void* const> inputs,
             std::span<double* const> outputs, cudaStream_t stream) {
            const std::int64_t n = p[shared_at::kElements];
            reference_kernel<<<blocks_for(n), kThreads, 0, stream>>>(
                static_cast<const float*>(inputs[0]), outputs[0], n,
                static_cast<int>(p[shared_at::kStride]), static_cast<int>(p[shared_at::kWidth]),
                static_cast<int>(p[shared_at::kRepeats]));
            check(cudaGetLastError());
          },
      // The same 8 values are added over and over, so errors may all have one sign. Each of the
      // `repeats` additions errs by up to u times a partial sum, which exceeds the final sum by no
      // more than the sums within one round of 8. The 32 lanes have different sums.
      .tolerance =
          [](const Problem& p, std::size_t) {
            const auto lanes = std::min<double>(32, static_cast<double>(p[shared_at::kElements]));
            return (static_cast<double>(p[shared_at::kRepeats]) + 8) * 2 * kFp32Roundoff /
                   least_largest(lanes);
          },
  };
}

}  // namespace roofcast::cuda::access
