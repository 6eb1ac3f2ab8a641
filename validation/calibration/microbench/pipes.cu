// Results per clock of one SM, by operation: 32 warps, each thread with eight independent chains.
#include "validation/calibration/microbench/chains.cuh"
#include "validation/calibration/microbench/loads.hpp"
#include "validation/calibration/microbench/microbench.hpp"

namespace roofcast::microbench {
namespace {

constexpr unsigned kWarps = kMostThreads / 32;

// Thread results per clock of one SM.
template <class Operation>
double rate(Lab& lab) {
  constexpr unsigned kRounds = 24;
  return 32 * operations_per_clk<Operation>(lab, kWarps, kRounds);
}

validation::Curve pipe(const char* name, double per_clk) {
  return validation::single("pipes", name, "1/clk", per_clk);
}

}  // namespace

void enqueue_fma(Lab& lab, int milliseconds) {
  constexpr double kClock_hz = 2e9;  // approximate: sets only how long the load runs
  constexpr double kCyclesPerRound = kRepeats * kChains * kMostThreads / 128.0;
  enqueue_chains<FmaFp32>(lab, kMostThreads,
                          static_cast<unsigned>(1e-3 * milliseconds * kClock_hz / kCyclesPerRound));
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
