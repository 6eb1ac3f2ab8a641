// What occupancy does CUDA report for given registers, shared memory and threads?
//
// The model computes occupancy from the allocation rules and must agree with CUDA everywhere, not
// only for this project's kernels. Block size and dynamic shared memory are arguments of CUDA's
// query; registers and static shared memory are properties of a kernel, so here is a family of
// kernels. Values that all stay alive until the last is loaded need a register each. Left alone,
// the compiler rounds up to a count that costs no occupancy (128, 168, 254); __maxnreg__ holds it
// to the count asked for.
#include "kernels/support/occupancy_probe.hpp"

#include <array>
#include <random>
#include <utility>

#include "kernels/common/error.hpp"

namespace roofcast::cuda {
namespace {

using Kernel = void (*)(const float*, float*);

template <int kRegisters, int kStaticShared>
__global__ __maxnreg__(kRegisters) void probe_kernel(const float* in, float* out) {
  __shared__ char held[kStaticShared > 0 ? kStaticShared : 1];
  constexpr int kLive = kRegisters - 12;  // the other 12 hold addresses
  float live[kLive];
#pragma unroll
  for (int i = 0; i < kLive; ++i) {
    // volatile: the loads and stores happen in this order
    live[i] = static_cast<const volatile float*>(in)[threadIdx.x + i * 1024];
  }
#pragma unroll
  for (int i = kLive - 1; i >= 0; --i) {  // last first: nothing can be stored before all are loaded
    static_cast<volatile float*>(out)[threadIdx.x + i * 1024] = live[i];
  }
  if constexpr (kStaticShared > 0) {  // used, so that it is allocated
    static_cast<volatile char*>(held)[threadIdx.x % kStaticShared] = static_cast<char>(live[0]);
    __syncthreads();
    out[threadIdx.x] += held[kStaticShared - 1 - threadIdx.x % kStaticShared];
  }
}

constexpr int kRegisterSteps = 30;  // 27, 35, … 251, 255: no multiples of the granularity of 8

template <int kStaticShared, int... kStep>
std::array<Kernel, kRegisterSteps> with_shared(std::integer_sequence<int, kStep...>) {
  return {probe_kernel < 8 * kStep + 27 < 255 ? 8 * kStep + 27 : 255, kStaticShared > ...};
}

template <int... kStaticShared>
std::array<std::array<Kernel, kRegisterSteps>, sizeof...(kStaticShared)> family() {
  return {with_shared<kStaticShared>(std::make_integer_sequence<int, kRegisterSteps>{})...};
}

}  // namespace

std::vector<OccupancyCase> probe_occupancy(int count, std::uint64_t seed) {
  const auto kernels = family<0, 1, 1000, 5000, 16384, 49152>();
  int device = 0, largest = 0;
  check(cudaGetDevice(&device));
  check(cudaDeviceGetAttribute(&largest, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));

  std::mt19937_64 random(seed);
  const auto below = [&](int limit) {
    return static_cast<int>(random() % static_cast<std::uint64_t>(limit));
  };
  std::vector<OccupancyCase> cases;
  for (int i = 0; i < count; ++i) {
    const auto& of_shared =
        kernels[static_cast<std::size_t>(below(static_cast<int>(kernels.size())))];
    const Kernel kernel = of_shared[static_cast<std::size_t>(below(kRegisterSteps))];
    cudaFuncAttributes attributes{};
    check(cudaFuncGetAttributes(&attributes, kernel));
    // A third of the cases has no dynamic memory, a third up to 16 KiB, a third up to 4 KiB more
    // than a block may have.
    const std::array dynamic = {0, below(16 * 1024), below(largest + 4096)};
    OccupancyCase one{.registers = attributes.numRegs,
                      .static_shared = attributes.sharedSizeBytes,
                      .dynamic_shared = static_cast<std::size_t>(dynamic[random() % 3]),
                      .threads = random() % 2 == 0 ? 32 * (1 + below(32)) : 1 + below(1024),
                      .blocks_per_sm = 0};
    const bool allowed = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                              static_cast<int>(one.dynamic_shared)) == cudaSuccess;
    check(cudaFuncSetAttribute(kernel, cudaFuncAttributePreferredSharedMemoryCarveout,
                               cudaSharedmemCarveoutDefault));
    int blocks = 0;
    if (allowed && cudaOccupancyMaxActiveBlocksPerMultiprocessor(
                       &blocks, kernel, one.threads, one.dynamic_shared) == cudaSuccess) {
      one.blocks_per_sm = blocks;
    }
    (void)cudaGetLastError();  // a refusal is an answer, not a failure
    cases.push_back(one);
  }
  return cases;
}

}  // namespace roofcast::cuda
