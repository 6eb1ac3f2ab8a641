// One block of 32 warps on each SM: bytes a clock from L1 and from shared memory, and the time of a
// load by the number of lines it touches.
#include "validation/calibration/microbench/device.cuh"
#include "validation/calibration/microbench/lab.hpp"
#include "validation/calibration/microbench/microbench.hpp"

namespace roofcast::microbench {
namespace {

constexpr unsigned kThreads = 1024;
constexpr unsigned kUnroll = 8;
constexpr unsigned kRounds = 128;
constexpr unsigned kTileBytes = 4096;  // 32 lines: what one request may touch

__device__ void measure_block(std::uint64_t start, std::uint64_t* cycles) {
  __syncthreads();
  if (threadIdx.x == 0) cycles[blockIdx.x] = cycle_count() - start;
}

// Lane `lane` reads word `word` of line `line` of the tile; kUnroll tiles, all in L1 after the
// first round.
__global__ void __launch_bounds__(kThreads, 1)
    read_lines(const std::uint32_t* data, unsigned lines, bool spread_banks, std::uint64_t* cycles,
               std::uint32_t* found) {
  const unsigned lane = threadIdx.x % 32;
  const unsigned per_line = 32 / lines;
  const unsigned line = lane / per_line;
  const unsigned word = spread_banks ? lane : lane % per_line;
  const std::uint32_t* p = data + line * 32 + word;
  std::uint32_t sum = 0;
  std::uint64_t start = 0;
#pragma unroll 1
  for (unsigned round = 0; round <= kRounds; ++round) {
    if (round == 1) {
      __syncthreads();
      start = cycle_count();
    }
    std::uint32_t v[kUnroll];
#pragma unroll
    for (unsigned u = 0; u < kUnroll; ++u) {
      asm volatile("ld.global.u32 %0, [%1];" : "=r"(v[u]) : "l"(p + u * kTileBytes / 4));
    }
#pragma unroll
    for (unsigned u = 0; u < kUnroll; ++u) sum += v[u];
  }
  measure_block(start, cycles);
  if (sum == (kRounds + 1) * kUnroll * Lab::kFill) atomicAdd(found, 1u);
}

__global__ void __launch_bounds__(kThreads, 1)
    read_vectors(const uint4* data, std::uint64_t* cycles, std::uint32_t* found) {
  const uint4* p = data + threadIdx.x % 256;  // 4 KiB, the warps in four groups
  std::uint32_t sum = 0;
  std::uint64_t start = 0;
#pragma unroll 1
  for (unsigned round = 0; round <= kRounds; ++round) {
    if (round == 1) {
      __syncthreads();
      start = cycle_count();
    }
    uint4 v[kUnroll];
#pragma unroll
    for (unsigned u = 0; u < kUnroll; ++u) {
      asm volatile("ld.global.v4.u32 {%0,%1,%2,%3}, [%4];"
                   : "=r"(v[u].x), "=r"(v[u].y), "=r"(v[u].z), "=r"(v[u].w)
                   : "l"(p + u * 256));
    }
#pragma unroll
    for (unsigned u = 0; u < kUnroll; ++u) sum += v[u].x ^ v[u].y ^ v[u].z ^ v[u].w ^ 1u;
  }
  measure_block(start, cycles);
  if (sum == (kRounds + 1) * kUnroll) atomicAdd(found, 1u);
}

__global__ void __launch_bounds__(kThreads, 1)
    read_shared(std::uint64_t* cycles, std::uint32_t* found) {
  __shared__ uint4 tile[kThreads];
  tile[threadIdx.x] = make_uint4(Lab::kFill, Lab::kFill, Lab::kFill, Lab::kFill);
  __syncthreads();
  const auto base = static_cast<std::uint32_t>(__cvta_generic_to_shared(tile + threadIdx.x % 512));
  std::uint32_t sum = 0;
  const std::uint64_t start = cycle_count();
#pragma unroll 1
  for (unsigned round = 0; round < kRounds; ++round) {
    uint4 v[kUnroll];
#pragma unroll
    for (unsigned u = 0; u < kUnroll; ++u) {
      asm volatile("ld.shared.v4.u32 {%0,%1,%2,%3}, [%4];"
                   : "=r"(v[u].x), "=r"(v[u].y), "=r"(v[u].z), "=r"(v[u].w)
                   : "r"(base + u * 1024));
    }
#pragma unroll
    for (unsigned u = 0; u < kUnroll; ++u) sum += v[u].x ^ v[u].y ^ v[u].z ^ v[u].w ^ 1u;
  }
  measure_block(start, cycles);
  if (sum == kRounds * kUnroll) atomicAdd(found, 1u);
}

constexpr double kRequests = double{kRounds} * kUnroll * kThreads / 32;

double cycles_per_request(Lab& lab, unsigned lines, bool spread_banks) {
  lab.clear_found();
  read_lines<<<lab.sms(), kThreads, 0, lab.stream()>>>(lab.buffer<std::uint32_t>(), lines,
                                                       spread_banks, lab.cycles(), lab.found());
  check(cudaGetLastError());
  lab.expect_found(std::size_t{lab.sms()} * kThreads, "on_chip");
  return lab.median_cycles(lab.sms()) / kRequests;
}

}  // namespace

Curves on_chip(Lab& lab) {
  constexpr double kBytes = kRequests * 32 * sizeof(uint4);
  Curves out;
  lab.clear_found();
  read_vectors<<<lab.sms(), kThreads, 0, lab.stream()>>>(lab.buffer<uint4>(), lab.cycles(),
                                                         lab.found());
  check(cudaGetLastError());
  lab.expect_found(std::size_t{lab.sms()} * kThreads, "L1 bandwidth");
  out.push_back(
      validation::single("on_chip", "L1 read", "B/clk", kBytes / lab.median_cycles(lab.sms())));
  lab.clear_found();
  read_shared<<<lab.sms(), kThreads, 0, lab.stream()>>>(lab.cycles(), lab.found());
  check(cudaGetLastError());
  lab.expect_found(std::size_t{lab.sms()} * kThreads, "shared bandwidth");
  out.push_back(
      validation::single("on_chip", "shared read", "B/clk", kBytes / lab.median_cycles(lab.sms())));

  for (const bool spread : {true, false}) {
    validation::Curve curve{"on_chip",
                            spread ? "load, lanes in different banks" : "load, packed lines",
                            "lines",
                            "clk/request",
                            {}};
    for (const unsigned lines : {1u, 2u, 4u, 8u, 16u, 32u}) {
      curve.points.push_back({static_cast<double>(lines), cycles_per_request(lab, lines, spread)});
    }
    out.push_back(std::move(curve));
  }
  return out;
}

}  // namespace roofcast::microbench
