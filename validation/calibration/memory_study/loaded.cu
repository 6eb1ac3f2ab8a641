// Latency under load: a few SMs chase pointers while all others stream at a given pace.
#include <algorithm>

#include "validation/calibration/memory_study/study.hpp"
#include "validation/calibration/microbench/device.cuh"

namespace roofcast::microbench {
namespace {

constexpr unsigned kChasers = 4;  // blocks, one SM each
constexpr std::size_t kMiB = std::size_t{1} << 20;
constexpr std::size_t kOneBlockAnSm = 120 * 1024;
constexpr unsigned kLineWords = 16;  // of 8 B
constexpr long long kRunCycles = 400'000, kWarmCycles = 60'000;

struct Load {
  std::size_t chunks;    ///< chunks of 512 B (a warp's vector load) in the stream
  std::uint32_t warps;   ///< warps of a streaming block
  std::uint32_t period;  ///< cycles between a warp's steps; 0: no pause
  bool writes;
};

struct Seen {
  std::uint64_t chase_cycles;
  std::uint64_t chase_steps;
  std::uint64_t steps;   ///< steps of all streaming warps after their warm-up
  std::uint64_t cycles;  ///< cycles after warm-up, summed over streaming warps
};

// Links the lines into rings of `ring` lines in pseudo-random order: each holds the next's address.
__global__ void lay_rings(std::uint64_t* lines, std::uint32_t ring, std::uint32_t count) {
  const std::uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const std::uint32_t first = i / ring * ring;
  const auto at = [&](std::uint32_t turn) {  // a permutation: an odd factor, modulo a power of 2
    return first + ((turn & (ring - 1)) * 0x9E3779B1u & (ring - 1));
  };
  lines[std::size_t{at(i)} * kLineWords] =
      reinterpret_cast<std::uint64_t>(lines + std::size_t{at(i + 1)} * kLineWords);
}

__device__ void chase(const std::uint64_t* start_line, Seen* seen) {
  auto p = reinterpret_cast<std::uint64_t>(start_line);
  const long long begin = clock64();
  long long from = 0;
  std::uint64_t steps = 0;
  for (;;) {
#pragma unroll 1
    for (int i = 0; i < 16; ++i) asm volatile("ld.global.cg.u64 %0, [%0];" : "+l"(p)::"memory");
    const long long now = clock64() + (p == 1);
    if (from == 0) {
      if (now - begin > kWarmCycles) from = now;
      continue;
    }
    steps += 16;
    if (now - begin > kRunCycles) {
      atomicAdd(reinterpret_cast<unsigned long long*>(&seen->chase_cycles), now - from);
      atomicAdd(reinterpret_cast<unsigned long long*>(&seen->chase_steps), steps);
      return;
    }
  }
}

template <unsigned kLoads>
__device__ void stream(uint4* data, const Load& load, Seen* seen, std::uint32_t* never) {
  const std::uint32_t warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const std::size_t warps = std::size_t{gridDim.x - kChasers} * load.warps;
  std::size_t chunk = (std::size_t{blockIdx.x - kChasers} * load.warps + warp) % load.chunks;
  const std::size_t ahead = warps % load.chunks;
  const long long begin = clock64();
  long long next = begin + std::uint64_t{load.period} * warp / load.warps, from = 0;
  std::uint64_t steps = 0;
  std::uint32_t sum = 0;
  for (;;) {
    uint4 v[kLoads];
#pragma unroll
    for (unsigned u = 0; u < kLoads; ++u) {
      uint4* const p = data + chunk * 32 + lane;
      if (load.writes) {
        *p = make_uint4(Lab::kFill, Lab::kFill, Lab::kFill, Lab::kFill);
      } else {
        v[u] = load_past_l1(p);
      }
      chunk += ahead;
      if (chunk >= load.chunks) chunk -= load.chunks;
    }
    if (!load.writes) {
#pragma unroll
      for (unsigned u = 0; u < kLoads; ++u) sum += sum_of(v[u]);
    }
    if (sum == 0x5eed5eed) *never += 1;
    long long now = clock64();
    if (from == 0) {
      if (now - begin > kWarmCycles) from = now;
    } else {
      ++steps;
      if (now - begin > kRunCycles) break;
    }
    next += load.period;
    while (now < next) now = clock64();
    if (load.period == 0) next = now;
  }
  if (lane == 0) {
    atomicAdd(reinterpret_cast<unsigned long long*>(&seen->steps), steps);
    atomicAdd(reinterpret_cast<unsigned long long*>(&seen->cycles), clock64() - from);
  }
}

template <unsigned kLoads>
__global__ void __launch_bounds__(1024, 1)
    chase_beside(const std::uint64_t* rings, std::uint32_t ring, uint4* data, Load load, Seen* seen,
                 std::uint32_t* never) {
  if (blockIdx.x < kChasers) {
    if (threadIdx.x == 0) chase(rings + std::size_t{blockIdx.x} * ring * kLineWords, seen);
  } else if (threadIdx.x < load.warps * 32) {
    stream<kLoads>(data, load, seen, never);
  }
}

struct Point {
  double bytes_per_clk;  ///< bytes streamed per clk, of all SMs
  double latency;        ///< clk
};

struct Setup {
  std::uint32_t ring_lines;
  std::size_t stream_bytes;
  bool writes;
};

template <unsigned kLoads>
Point measure(Lab& lab, const Setup& setup, std::uint32_t warps, std::uint32_t period) {
  auto* const rings = lab.buffer<std::uint64_t>() + (3584 * kMiB) / 8;
  const std::uint32_t count = setup.ring_lines * kChasers;
  lay_rings<<<(count + 255) / 256, 256, 0, lab.stream()>>>(rings, setup.ring_lines, count);
  const auto seen = harness::device_alloc<Seen>(1);
  check(cudaMemsetAsync(seen.get(), 0, sizeof(Seen), lab.stream()));
  const Load load{setup.stream_bytes / 512, warps, period, setup.writes};
  check(cudaFuncSetAttribute(chase_beside<kLoads>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                             static_cast<int>(kOneBlockAnSm)));
  chase_beside<kLoads><<<lab.sms(), 1024, kOneBlockAnSm, lab.stream()>>>(
      rings, setup.ring_lines, lab.buffer<uint4>(), load, seen.get(), lab.found());
  check(cudaGetLastError());
  const Seen got = lab.read(seen.get(), 1)[0];
  const double streaming_warps = static_cast<double>(lab.sms() - kChasers) * warps;
  const double cycles = static_cast<double>(got.cycles) / streaming_warps;
  return {static_cast<double>(got.steps) * kLoads * 512 / cycles,
          static_cast<double>(got.chase_cycles) / static_cast<double>(got.chase_steps)};
}

void study(Lab& lab, const std::string& what, const Setup& setup, Curves& out) {
  validation::Curve paced{"loaded_latency", what + ", paced", "bytes_per_clk", "clk", {}};
  for (const std::uint32_t period :
       {65536u, 16384u, 8192u, 4096u, 3072u, 2560u, 2048u, 1792u, 1600u,
        1440u,  1360u,  1280u, 1216u, 1152u, 1088u, 1024u, 960u,  896u,
        832u,   768u,   704u,  640u,  576u,  544u,  512u,  448u,  384u}) {
    const Point p = measure<1>(lab, setup, 32, period);
    paced.points.push_back({p.bytes_per_clk, p.latency});
  }
  out.push_back(std::move(paced));
  validation::Curve rate{
      "loaded_latency", what + ", closed: rate", "bytes_in_flight_per_sm", "B/clk", {}};
  validation::Curve latency{
      "loaded_latency", what + ", closed: latency", "bytes_in_flight_per_sm", "clk", {}};
  const auto add = [&](double in_flight, const Point& p) {
    rate.points.push_back({in_flight, p.bytes_per_clk});
    latency.points.push_back({in_flight, p.latency});
  };
  for (const std::uint32_t warps : {1u, 2u, 4u, 8u, 16u, 32u}) {
    add(warps * 512.0, measure<1>(lab, setup, warps, 0));
  }
  add(32 * 2 * 512.0, measure<2>(lab, setup, 32, 0));
  add(32 * 4 * 512.0, measure<4>(lab, setup, 32, 0));
  add(32 * 8 * 512.0, measure<8>(lab, setup, 32, 0));
  out.push_back(std::move(rate));
  out.push_back(std::move(latency));
}

}  // namespace

Curves loaded_latency(Lab& lab) {
  constexpr std::uint32_t kDramRing = 1u << 20, kL2Ring = 16;  // lines
  constexpr std::size_t kDramStream = 3072 * kMiB, kL2Stream = 16 * kMiB;
  Curves out;
  if (lab.buffer_bytes() < 4096 * kMiB) return out;
  study(lab, "DRAM beside reads of DRAM", {kDramRing / 2, kDramStream, false}, out);
  study(lab, "DRAM beside writes to DRAM", {kDramRing / 2, kDramStream, true}, out);
  study(lab, "L2 beside reads of L2", {kL2Ring, kL2Stream, false}, out);
  study(lab, "L2 beside writes to L2", {kL2Ring, kL2Stream, true}, out);
  study(lab, "L2 beside reads of DRAM", {kL2Ring, kDramStream, false}, out);
  lab.fill_buffer();
  return out;
}

}  // namespace roofcast::microbench
