// Results a clock of one SM, by operation: 32 warps, eight independent chains each.
#include <cstring>
#include <string>

#include "validation/calibration/microbench/device.cuh"
#include "validation/calibration/microbench/loads.hpp"
#include "validation/calibration/microbench/microbench.hpp"
#include "validation/calibration/microbench/operations.cuh"

namespace roofcast::microbench {
namespace {

constexpr unsigned kThreads = 1024;
constexpr unsigned kRepeats = 32;  // of all chains, unrolled: the loop's own cost is 1%

template <class Type>
__device__ std::uint32_t bits_of(Type value) {
  std::uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

template <class Operation>
__global__ void __launch_bounds__(kThreads)
    run_chains(typename Operation::Type a, typename Operation::Type b, unsigned rounds,
               std::uint64_t* cycles, std::uint32_t* never) {
  typename Operation::Type x[kChains];
  for (unsigned c = 0; c < kChains; ++c) {
    x[c] = static_cast<typename Operation::Type>(threadIdx.x + c);
  }
  __syncthreads();
  const std::uint64_t start = cycle_count();
#pragma unroll 1
  for (unsigned round = 0; round < rounds; ++round) {
#pragma unroll
    for (unsigned i = 0; i < kRepeats; ++i) {
#pragma unroll
      for (unsigned c = 0; c < kChains; ++c) Operation::apply(x, c, a, b);
    }
  }
  __syncthreads();
  if (threadIdx.x == 0) cycles[blockIdx.x] = cycle_count() - start;
  std::uint32_t all = 0;
  for (unsigned c = 0; c < kChains; ++c) all ^= bits_of(x[c]);
  if (all == 0x5eed5eed) *never += 1;  // keeps the chains alive
}

// Operations a clock of one SM.
template <class Operation>
double rate(Lab& lab, unsigned threads = kThreads) {
  constexpr unsigned kRounds = 24;
  using Type = typename Operation::Type;
  run_chains<Operation><<<lab.sms(), threads, 0, lab.stream()>>>(Type(1), Type(3), kRounds,
                                                                 lab.cycles(), lab.found());
  check(cudaGetLastError());
  return double{kRounds} * kRepeats * kChains * threads / lab.median_cycles(lab.sms());
}

validation::Curve pipe(const char* name, double per_clk) {
  return validation::single("pipes", name, "1/clk", per_clk);
}

}  // namespace

void enqueue_fma(Lab& lab, int milliseconds) {
  constexpr double kClock_hz = 2e9;  // about: only the length of the load depends on it
  constexpr double kCyclesPerRound = kRepeats * kChains * kThreads / 128.0;
  const auto rounds = static_cast<unsigned>(1e-3 * milliseconds * kClock_hz / kCyclesPerRound);
  run_chains<FmaFp32>
      <<<lab.sms(), kThreads, 0, lab.stream()>>>(0.5f, 1.0f, rounds, lab.cycles(), lab.found());
  check(cudaGetLastError());
}

Curves pipes(Lab& lab) {
  return {pipe("fp32 fma", rate<FmaFp32>(lab)),
          pipe("fp64 fma", rate<FmaFp64>(lab)),
          pipe("fp16 fma", 2 * rate<FmaFp16x2>(lab)),
          pipe("bf16 fma", 2 * rate<FmaBf16x2>(lab)),
          pipe("int32 add", rate<AddInt>(lab)),
          pipe("int32 multiply-add", rate<MulAddInt>(lab)),
          pipe("exp2", rate<Exp2>(lab)),
          pipe("reciprocal", rate<Reciprocal>(lab)),
          pipe("reciprocal root", rate<ReciprocalRoot>(lab)),
          pipe("sine", rate<Sine>(lab)),
          pipe("tanh", rate<Tanh>(lab)),
          pipe("shuffle", rate<Shuffle>(lab)),
          pipe("fp32 to fp16 pair", rate<Fp32ToFp16x2>(lab)),
          pipe("fp32 to bf16 pair", rate<Fp32ToBf16x2>(lab)),
          pipe("fp32 to int32", rate<Fp32ToInt32>(lab)),
          pipe("int32 to fp32", rate<Int32ToFp32>(lab)),
          pipe("fp16 to fp32", rate<Fp16ToFp32>(lab)),
          pipe("fp64 to fp32 and back", 2 * rate<Fp64ToFp32ToFp64>(lab))};
}

}  // namespace roofcast::microbench
