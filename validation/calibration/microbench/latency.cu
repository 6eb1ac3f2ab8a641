#include <algorithm>
#include <stdexcept>
#include <string>

#include "validation/calibration/microbench/device.cuh"
#include "validation/calibration/microbench/lab.hpp"
#include "validation/calibration/microbench/microbench.hpp"

namespace roofcast::microbench {
namespace {

constexpr unsigned kLineBytes = 128;
constexpr unsigned kWordsPerLine = kLineBytes / sizeof(std::uint64_t);
constexpr unsigned kUnroll = 32;

// A permutation of 0 … 2^bits - 1: multiplication by an odd number and x ^ (x >> s) are both
// invertible modulo 2^bits.
__host__ __device__ std::uint64_t place(std::uint64_t turn, unsigned bits) {
  constexpr std::uint64_t kOdd = 0x9E3779B97F4A7C15;
  const std::uint64_t mask = (std::uint64_t{1} << bits) - 1;
  const unsigned shift = (bits + 1) / 2;
  std::uint64_t x = (turn * kOdd) & mask;
  x ^= x >> shift;
  x = (x * kOdd) & mask;
  return x ^ (x >> shift);
}

// Line place(t) holds the address of line place(t + 1): one ring through all lines.
__global__ void lay_ring(std::uint64_t* lines, unsigned bits) {
  const std::uint64_t count = std::uint64_t{1} << bits;
  const std::uint64_t step = std::uint64_t{gridDim.x} * blockDim.x;
  for (std::uint64_t t = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; t < count;
       t += step) {
    lines[place(t, bits) * kWordsPerLine] =
        reinterpret_cast<std::uint64_t>(lines + place((t + 1) & (count - 1), bits) * kWordsPerLine);
  }
}

__global__ void touch_all(const uint4* data, std::uint64_t vectors, std::uint32_t* never) {
  std::uint32_t sum = 0;
  const std::uint64_t step = std::uint64_t{gridDim.x} * blockDim.x;
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < vectors;
       i += step) {
    sum += sum_of(load_past_l1(data + i));
  }
  if (sum == 0x5eed) *never += 1;
}

__device__ std::uint64_t follow(std::uint64_t address) {
  asm volatile("ld.global.u64 %0, [%0];" : "+l"(address));
  return address;
}

struct Walk {
  unsigned bits;
  std::uint64_t spacing;  ///< ring positions between the starts of two blocks
  unsigned warm;
  unsigned steps;
};

// One thread of each block walks the ring from its own start.
__global__ void walk_ring(const std::uint64_t* lines, Walk walk, std::uint64_t* cycles,
                          std::uint32_t* found) {
  const std::uint64_t first = blockIdx.x * walk.spacing;
  const std::uint64_t mask = (std::uint64_t{1} << walk.bits) - 1;
  auto p = reinterpret_cast<std::uint64_t>(lines + place(first & mask, walk.bits) * kWordsPerLine);
  for (unsigned i = 0; i < walk.warm; ++i) p = follow(p);
  const std::uint64_t start = cycle_count();
#pragma unroll 1
  for (unsigned i = 0; i < walk.steps; i += kUnroll) {
#pragma unroll
    for (unsigned u = 0; u < kUnroll; ++u) p = follow(p);
  }
  const std::uint64_t stop = cycle_count();
  cycles[blockIdx.x] = stop - start;
  const std::uint64_t last = place((first + walk.warm + walk.steps) & mask, walk.bits);
  if (p == reinterpret_cast<std::uint64_t>(lines + last * kWordsPerLine)) atomicAdd(found, 1u);
}

constexpr unsigned kL1WalkBits = 14;  // up to 2 MiB, each SM first walks the whole ring
constexpr unsigned kSteps = 4096;

Walk walk_for(unsigned bits, unsigned blocks) {
  const std::uint64_t lines = std::uint64_t{1} << bits;
  if (bits <= kL1WalkBits) {
    return {bits, 0, static_cast<unsigned>(lines), kSteps};
  }
  return {bits, lines / blocks, 512, kSteps};
}

// Mean cycles of a dependent load over all SMs, since their distance to L2's slices differs.
double global_latency(Lab& lab, unsigned bits) {
  auto* lines = lab.buffer<std::uint64_t>();
  const std::size_t bytes = std::size_t{kLineBytes} << bits;
  lay_ring<<<lab.sms() * 8, 256, 0, lab.stream()>>>(lines, bits);
  if (bytes > 2 * lab.l2_bytes()) {
    lab.flush_l2();
  } else {
    touch_all<<<lab.sms() * 2, 512, 0, lab.stream()>>>(lab.buffer<uint4>(), bytes / sizeof(uint4),
                                                       lab.found());
  }
  lab.clear_found();
  const Walk walk = walk_for(bits, lab.sms());
  walk_ring<<<lab.sms(), 1, 0, lab.stream()>>>(lines, walk, lab.cycles(), lab.found());
  check(cudaGetLastError());
  lab.expect_found(lab.sms(), "latency");
  const auto cycles = lab.read(lab.cycles(), lab.sms());
  double sum = 0;
  for (const std::uint64_t one : cycles) sum += static_cast<double>(one);
  return sum / walk.steps / static_cast<double>(cycles.size());
}

constexpr unsigned kSharedBits = 12;

__global__ void walk_shared(unsigned steps, std::uint64_t* cycles, std::uint32_t* found) {
  __shared__ std::uint32_t ring[1u << kSharedBits];
  constexpr std::uint32_t kMask = (1u << kSharedBits) - 1;
  const auto base = static_cast<std::uint32_t>(__cvta_generic_to_shared(ring));
  for (std::uint32_t t = threadIdx.x; t <= kMask; t += blockDim.x) {
    ring[place(t, kSharedBits)] =
        base + 4 * static_cast<std::uint32_t>(place((t + 1) & kMask, kSharedBits));
  }
  __syncthreads();
  if (threadIdx.x != 0) return;
  std::uint32_t p = base + 4 * static_cast<std::uint32_t>(place(0, kSharedBits));
  const std::uint64_t start = cycle_count();
#pragma unroll 1
  for (unsigned i = 0; i < steps; i += kUnroll) {
#pragma unroll
    for (unsigned u = 0; u < kUnroll; ++u) asm volatile("ld.shared.u32 %0, [%0];" : "+r"(p));
  }
  cycles[blockIdx.x] = cycle_count() - start;
  if (p == base + 4 * static_cast<std::uint32_t>(place(steps & kMask, kSharedBits))) {
    atomicAdd(found, 1u);
  }
}

double shared_latency(Lab& lab) {
  lab.clear_found();
  walk_shared<<<lab.sms(), 256, 0, lab.stream()>>>(kSteps, lab.cycles(), lab.found());
  check(cudaGetLastError());
  lab.expect_found(lab.sms(), "shared latency");
  return lab.median_cycles(lab.sms()) / kSteps;
}

__global__ void chain_fma(unsigned steps, float a, float b, std::uint64_t* cycles,
                          std::uint32_t* never) {
  float x = static_cast<float>(threadIdx.x);
  const std::uint64_t start = cycle_count();
#pragma unroll 1
  for (unsigned i = 0; i < steps; i += 256) {
#pragma unroll
    for (unsigned u = 0; u < 256; ++u)
      asm volatile("fma.rn.f32 %0, %0, %1, %2;" : "+f"(x) : "f"(a), "f"(b));
  }
  cycles[blockIdx.x] = cycle_count() - start;
  if (x == 12345.0f) *never += 1;
}

double fma_latency(Lab& lab) {
  constexpr unsigned kFmas = 1u << 16;
  chain_fma<<<lab.sms(), 32, 0, lab.stream()>>>(kFmas, 0.5f, 1.0f, lab.cycles(), lab.found());
  check(cudaGetLastError());
  return lab.median_cycles(lab.sms()) / kFmas;
}

}  // namespace

Curves latency(Lab& lab) {
  constexpr unsigned kFirstBits = 7;  // 16 KiB
  constexpr unsigned kLastBits = 24;  // 2 GiB
  validation::Curve global{"latency", "global", "footprint_bytes", "clk", {}};
  for (unsigned bits = kFirstBits; bits <= kLastBits; ++bits) {
    const std::size_t bytes = std::size_t{kLineBytes} << bits;
    if (bytes > lab.buffer_bytes()) break;
    global.points.push_back({static_cast<double>(bytes), global_latency(lab, bits)});
  }
  lab.fill_buffer();
  return {std::move(global), validation::single("latency", "shared", "clk", shared_latency(lab)),
          validation::single("latency", "fma", "clk", fma_latency(lab))};
}

}  // namespace roofcast::microbench
