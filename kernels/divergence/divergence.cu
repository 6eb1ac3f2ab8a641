// Branch divergence. A warp issues one instruction for the lanes that run together: where its lanes
// take d different paths, it runs d paths one after the other, each with the other lanes idle. All
// threads do the same amount of work; the variants differ in how a thread chooses its path:
//
//                   path of thread i         paths d that a warp runs           k = 8     k = 32
//   warp_uniform    (i / 32) mod k           1                                  1         1
//   k_way           (i mod 32) mod k         min(k, 32)                         8         32
//   data_dependent  selector[i] in [0, k)    k·(1 - (1 - 1/k)^32) expected      7.89      20.4
//
// A path is `work` multiply-adds on one element, in four independent chains: a multiply-add has a
// latency of 4 cycles, and a scheduler issues one instruction a cycle, so four chains and a few
// warps fill it. On devices with 128 fp32 lanes an SM the pipe is full exactly when every issue
// slot holds a multiply-add; the loop's own instructions make issue the roof. (With 64 lanes the
// pipe is the roof.)
//
// Useful FLOP: 2·work·n. Issued: d times as many. Bytes: 8 an element (12 with a selector). On an
// H200 (4.2 TB/s, 132·128·1.98e9 multiply-adds a second) they take as long as the arithmetic at
// work·d = 64 (96 with a selector), and less beyond.
//
// The compiler must keep the paths apart. The constants are operands of inline assembly, so it may
// not merge the cases of the switch into one loop over a selected constant, nor predicate them; and
// each path's loop branches, so that the machine code has a branch and a reconvergence for each.

#include <array>
#include <cstdint>
#include <string>

#include "kernels/common/error.hpp"
#include "kernels/families.hpp"
#include "model/kernels/divergence/divergence.hpp"

namespace roofcast::cuda::divergence {
namespace {

using roofcast::divergence::Choice;
using roofcast::divergence::kElements;
using roofcast::divergence::kMaxPaths;
using roofcast::divergence::kPaths;
using roofcast::divergence::kThreads;
using roofcast::divergence::kWork;
using roofcast::divergence::kWorkUnit;

constexpr int kMostThreads = 1024;

/// Path p repeats v = (1 - a)·v + b with a = (p + 1)/2^12 and b = (p + 1)/2^10. A step changes v
/// little, so that the result depends on the start and on p.
template <class C>
struct Constants {
  C slope;
  C offset;
};
template <class C>
__host__ __device__ constexpr Constants<C> constants(int path) {
  return {1 - static_cast<C>(path + 1) / 4096, static_cast<C>(path + 1) / 1024};
}

constexpr int kChains = 4;
constexpr int kPerChain = static_cast<int>(kWorkUnit) / kChains;

/// The sum of four chains, which start at x, x + 1, x + 2 and x + 3.
template <int kPath>
__device__ float run_path(float x, int rounds) {
  constexpr auto c = constants<float>(kPath);
  float v0 = x, v1 = x + 1, v2 = x + 2, v3 = x + 3;
#pragma unroll 1
  do {
#pragma unroll
    for (int i = 0; i < kPerChain; ++i) {
      asm volatile("fma.rn.f32 %0, %0, %1, %2;" : "+f"(v0) : "f"(c.slope), "f"(c.offset));
      asm volatile("fma.rn.f32 %0, %0, %1, %2;" : "+f"(v1) : "f"(c.slope), "f"(c.offset));
      asm volatile("fma.rn.f32 %0, %0, %1, %2;" : "+f"(v2) : "f"(c.slope), "f"(c.offset));
      asm volatile("fma.rn.f32 %0, %0, %1, %2;" : "+f"(v3) : "f"(c.slope), "f"(c.offset));
    }
  } while (--rounds > 0);
  return (v0 + v1) + (v2 + v3);
}

/// One branch with 32 targets.
__device__ float run_chosen(int path, float x, int rounds) {
  switch (path) {
    case 0:
      return run_path<0>(x, rounds);
    case 1:
      return run_path<1>(x, rounds);
    case 2:
      return run_path<2>(x, rounds);
    case 3:
      return run_path<3>(x, rounds);
    case 4:
      return run_path<4>(x, rounds);
    case 5:
      return run_path<5>(x, rounds);
    case 6:
      return run_path<6>(x, rounds);
    case 7:
      return run_path<7>(x, rounds);
    case 8:
      return run_path<8>(x, rounds);
    case 9:
      return run_path<9>(x, rounds);
    case 10:
      return run_path<10>(x, rounds);
    case 11:
      return run_path<11>(x, rounds);
    case 12:
      return run_path<12>(x, rounds);
    case 13:
      return run_path<13>(x, rounds);
    case 14:
      return run_path<14>(x, rounds);
    case 15:
      return run_path<15>(x, rounds);
    case 16:
      return run_path<16>(x, rounds);
    case 17:
      return run_path<17>(x, rounds);
    case 18:
      return run_path<18>(x, rounds);
    case 19:
      return run_path<19>(x, rounds);
    case 20:
      return run_path<20>(x, rounds);
    case 21:
      return run_path<21>(x, rounds);
    case 22:
      return run_path<22>(x, rounds);
    case 23:
      return run_path<23>(x, rounds);
    case 24:
      return run_path<24>(x, rounds);
    case 25:
      return run_path<25>(x, rounds);
    case 26:
      return run_path<26>(x, rounds);
    case 27:
      return run_path<27>(x, rounds);
    case 28:
      return run_path<28>(x, rounds);
    case 29:
      return run_path<29>(x, rounds);
    case 30:
      return run_path<30>(x, rounds);
    default:
      return run_path<31>(x, rounds);
  }
}
static_assert(kMaxPaths == 32);

template <Choice kChoice>
__device__ int path_of(std::int64_t i, const int* selector, int paths) {
  if constexpr (kChoice == Choice::warp_uniform) {
    return static_cast<int>(static_cast<unsigned>(i / 32) % static_cast<unsigned>(paths));
  } else if constexpr (kChoice == Choice::k_way) {
    return static_cast<int>(static_cast<unsigned>(i % 32) % static_cast<unsigned>(paths));
  } else {
    return selector[i];
  }
}

template <Choice kChoice>
__global__ void __launch_bounds__(kMostThreads)
    diverge(const float* __restrict__ x, const int* __restrict__ selector, float* __restrict__ y,
            std::int64_t n, int paths, int rounds) {
  const std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= n) return;
  y[i] = run_chosen(path_of<kChoice>(i, selector, paths), x[i], rounds);
}

template <Choice kChoice>
__global__ void reference_kernel(const float* x, const int* selector, double* y, std::int64_t n,
                                 int paths, std::int64_t rounds) {
  const std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const auto c = constants<double>(path_of<kChoice>(i, selector, paths));
  double sum = 0;
  for (int chain = 0; chain < kChains; ++chain) {
    double v = static_cast<double>(x[i]) + chain;
    for (std::int64_t round = 0; round < rounds * kPerChain; ++round) v = c.slope * v + c.offset;
    sum += v;
  }
  y[i] = sum;
}

/// Selectors are 32-bit integers in a tensor declared as fp32.
__global__ void fill_selectors(int* selector, std::int64_t n, unsigned paths, std::uint64_t seed) {
  const std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= n) return;
  // The finalizer of SplitMix64 (Steele, Lea, Flood 2014); its upper half scaled to [0, paths).
  std::uint64_t bits = seed + static_cast<std::uint64_t>(i + 1) * 0x9e3779b97f4a7c15ULL;
  bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9ULL;
  bits = (bits ^ (bits >> 27)) * 0x94d049bb133111ebULL;
  bits ^= bits >> 31;
  selector[i] = static_cast<int>((bits >> 32) * paths >> 32);
}

constexpr unsigned kReferenceThreads = 256;

unsigned blocks(std::int64_t n, std::int64_t threads) {
  return static_cast<unsigned>((n + threads - 1) / threads);
}

std::string unsupported(const Problem& p) {
  if (p.dtype != DType::fp32) {
    return "divergence kernels run in fp32, not " + std::string(name(p.dtype));
  }
  if (p[kElements] < 1 || p[kElements] >> 35 != 0) return "n must be from 1 to 2^35 - 1";
  if (p[kPaths] < 1 || p[kPaths] > kMaxPaths) {
    return "paths must be from 1 to " + std::to_string(kMaxPaths);
  }
  if (p[kWork] < kWorkUnit || p[kWork] % kWorkUnit != 0) {
    return "work must be a multiple of " + std::to_string(kWorkUnit) + "; asked for " +
           std::to_string(p[kWork]);
  }
  if (p[kThreads] < 32 || p[kThreads] > kMostThreads || p[kThreads] % 32 != 0) {
    return "threads must be a multiple of 32 from 32 to " + std::to_string(kMostThreads) +
           "; asked for " + std::to_string(p[kThreads]);
  }
  return {};
}

const int* selector(std::span<const void* const> inputs) {
  return inputs.size() > 1 ? static_cast<const int*>(inputs[1]) : nullptr;
}

constexpr Problem configuration(std::int64_t paths, std::int64_t work, std::int64_t threads) {
  return {.dtype = DType::fp32, .values = {0, paths, work, threads}};
}

constexpr std::array kConfigurations = {configuration(4, 512, 256), configuration(1, 64, 128),
                                        configuration(7, 16, 32), configuration(32, 64, 1024)};

template <Choice kChoice>
KernelEntry entry(std::string_view name) {
  return {
      .name = name,
      .configurations = kConfigurations,
      .unsupported = unsupported,
      .tensors =
          [](const Problem& p) {
            const Tensor array{DType::fp32, static_cast<std::size_t>(p[kElements])};
            return Tensors{std::vector<Tensor>(kChoice == Choice::data_dependent ? 2 : 1, array),
                           {array}};
          },
      .launches =
          [](const Problem& p) {
            return std::vector<Launch>{{reinterpret_cast<const void*>(&diverge<kChoice>),
                                        dim3(blocks(p[kElements], p[kThreads])),
                                        dim3(static_cast<unsigned>(p[kThreads])), 0}};
          },
      .run =
          [](const Problem& p, const Addresses& at, cudaStream_t stream) {
            diverge<kChoice>
                <<<blocks(p[kElements], p[kThreads]), static_cast<unsigned>(p[kThreads]), 0,
                   stream>>>(static_cast<const float*>(at.inputs[0]), selector(at.inputs),
                             static_cast<float*>(at.outputs[0]), p[kElements],
                             static_cast<int>(p[kPaths]), static_cast<int>(p[kWork] / kWorkUnit));
            check(cudaGetLastError());
          },
      .reference =
          [](const Problem& p, std::span<const void* const> inputs,
             std::span<double* const> outputs, cudaStream_t stream) {
            reference_kernel<kChoice>
                <<<blocks(p[kElements], kReferenceThreads), kReferenceThreads, 0, stream>>>(
                    static_cast<const float*>(inputs[0]), selector(inputs), outputs[0],
                    p[kElements], static_cast<int>(p[kPaths]), p[kWork] / kWorkUnit);
            check(cudaGetLastError());
          },
      // Each of the `work` multiply-adds errs by up to u times its value, which is at most half the
      // largest sum of four chains; slopes below 1 amplify no error. Near its limit a chain may
      // always round in the same direction.
      .tolerance = [](const Problem& p,
                      std::size_t) { return static_cast<double>(2 * p[kWork] + 32) * 0x1p-24; },
      .fill =
          [](const Problem& p, std::span<void* const> inputs, std::uint64_t seed,
             cudaStream_t stream) {
            if (inputs.size() < 2) return;
            fill_selectors<<<blocks(p[kElements], kReferenceThreads), kReferenceThreads, 0,
                             stream>>>(static_cast<int*>(inputs[1]), p[kElements],
                                       static_cast<unsigned>(p[kPaths]), seed);
            check(cudaGetLastError());
          },
  };
}

}  // namespace

Entries entries() {
  static const std::array table = {entry<Choice::warp_uniform>("divergence.warp_uniform"),
                                   entry<Choice::k_way>("divergence.k_way"),
                                   entry<Choice::data_dependent>("divergence.data_dependent")};
  return table;
}

}  // namespace roofcast::cuda::divergence
