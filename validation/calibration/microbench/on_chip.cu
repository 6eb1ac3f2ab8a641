// Bytes per clock from L1 and from shared memory, and cycles of a load by the number of lines it
// touches; one block of 32 warps per SM.
#include <functional>

#include "validation/calibration/microbench/device.cuh"
#include "validation/calibration/microbench/lab.hpp"
#include "validation/calibration/microbench/microbench.hpp"

namespace roofcast::microbench {
namespace {

constexpr unsigned kThreads = 1024;
constexpr unsigned kUnroll = 8;
constexpr unsigned kRounds = 128;
constexpr unsigned kTileBytes = 4096;  // 32 lines, the most a request can touch

// The timed loop: `read(u, value)` loads place u of kUnroll; then `check_of(value)`, which must
// give `expected`, is summed. The first round brings the data on chip and is not timed.
template <class Value, class Read, class CheckOf>
__device__ void time_reads(Read&& read, CheckOf&& check_of, std::uint32_t expected,
                           std::uint64_t* cycles, std::uint32_t* found) {
  std::uint32_t sum = 0;
  std::uint64_t start = 0;
#pragma unroll 1
  for (unsigned round = 0; round <= kRounds; ++round) {
    if (round == 1) {
      __syncthreads();
      start = cycle_count();
    }
    Value v[kUnroll];
#pragma unroll
    for (unsigned u = 0; u < kUnroll; ++u) read(u, v[u]);
#pragma unroll
    for (unsigned u = 0; u < kUnroll; ++u) sum += check_of(v[u]);
  }
  __syncthreads();
  if (threadIdx.x == 0) cycles[blockIdx.x] = cycle_count() - start;
  if (sum == (kRounds + 1) * kUnroll * expected) atomicAdd(found, 1u);
}

__device__ std::uint32_t one_of(const uint4& v) {
  return v.x ^ v.y ^ v.z ^ v.w ^ 1u;
}

// Lane `lane` reads word `word` of line `line` of the tile; kUnroll tiles.
__global__ void __launch_bounds__(kThreads, 1)
    read_lines(const std::uint32_t* data, unsigned lines, bool spread_banks, std::uint64_t* cycles,
               std::uint32_t* found) {
  const unsigned lane = threadIdx.x % 32;
  const unsigned per_line = 32 / lines;
  const unsigned line = lane / per_line;
  const unsigned word = spread_banks ? lane : lane % per_line;
  const std::uint32_t* p = data + line * 32 + word;
  time_reads<std::uint32_t>(
      [p](unsigned u, std::uint32_t& v) {
        asm volatile("ld.global.u32 %0, [%1];" : "=r"(v) : "l"(p + u * kTileBytes / 4));
      },
      [](std::uint32_t v) { return v; }, Lab::kFill, cycles, found);
}

__global__ void __launch_bounds__(kThreads, 1)
    read_vectors(const uint4* data, std::uint64_t* cycles, std::uint32_t* found) {
  const uint4* p = data + threadIdx.x % 256;  // 4 KiB, read by four groups of warps
  time_reads<uint4>(
      [p](unsigned u, uint4& v) {
        asm volatile("ld.global.v4.u32 {%0,%1,%2,%3}, [%4];"
                     : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
                     : "l"(p + u * 256));
      },
      one_of, 1, cycles, found);
}

__global__ void __launch_bounds__(kThreads, 1)
    read_shared(std::uint64_t* cycles, std::uint32_t* found) {
  __shared__ uint4 tile[kThreads];
  tile[threadIdx.x] = make_uint4(Lab::kFill, Lab::kFill, Lab::kFill, Lab::kFill);
  __syncthreads();
  const auto base = static_cast<std::uint32_t>(__cvta_generic_to_shared(tile + threadIdx.x % 512));
  time_reads<uint4>(
      [base](unsigned u, uint4& v) {
        asm volatile("ld.shared.v4.u32 {%0,%1,%2,%3}, [%4];"
                     : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
                     : "r"(base + u * 1024));
      },
      one_of, 1, cycles, found);
}

constexpr double kRequests = double{kRounds} * kUnroll * kThreads / 32;

// Cycles per warp load; `enqueue` launches one block of kThreads threads per SM.
double cycles_per_request(Lab& lab, const char* what, const std::function<void()>& enqueue) {
  lab.clear_found();
  enqueue();
  check(cudaGetLastError());
  lab.expect_found(std::size_t{lab.sms()} * kThreads, what);
  return lab.median_cycles(lab.sms()) / kRequests;
}

}  // namespace

Curves on_chip(Lab& lab) {
  constexpr double kBytes = 32 * sizeof(uint4);  // bytes of a warp's load
  const double l1 = cycles_per_request(lab, "L1 bandwidth", [&] {
    read_vectors<<<lab.sms(), kThreads, 0, lab.stream()>>>(lab.buffer<uint4>(), lab.cycles(),
                                                           lab.found());
  });
  const double shared = cycles_per_request(lab, "shared bandwidth", [&] {
    read_shared<<<lab.sms(), kThreads, 0, lab.stream()>>>(lab.cycles(), lab.found());
  });
  Curves out = {validation::single("on_chip", "L1 read", "B/clk", kBytes / l1),
                validation::single("on_chip", "shared read", "B/clk", kBytes / shared)};
  for (const bool spread : {true, false}) {
    validation::Curve curve{"on_chip",
                            spread ? "load, lanes in different banks" : "load, packed lines",
                            "lines",
                            "clk/request",
                            {}};
    for (const unsigned lines : {1u, 2u, 4u, 8u, 16u, 32u}) {
      const double cycles = cycles_per_request(lab, "L1 lookups", [&] {
        read_lines<<<lab.sms(), kThreads, 0, lab.stream()>>>(lab.buffer<std::uint32_t>(), lines,
                                                             spread, lab.cycles(), lab.found());
      });
      curve.points.push_back({static_cast<double>(lines), cycles});
    }
    out.push_back(std::move(curve));
  }
  return out;
}

}  // namespace roofcast::microbench
