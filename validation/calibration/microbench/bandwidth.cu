#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>

#include "validation/calibration/microbench/device.cuh"
#include "validation/calibration/microbench/loads.hpp"
#include "validation/calibration/microbench/microbench.hpp"

namespace roofcast::microbench {
namespace {

constexpr unsigned kThreads = 1024;  // one block an SM
constexpr unsigned kUnroll = 8;      // 128 KiB in flight on an SM
constexpr std::size_t kChunkBytes = kThreads * sizeof(uint4);

// A block visits `count` chunks, first, first + stride, …, in a cycle that begins at position
// `start`.
struct Route {
  std::uint32_t first;
  std::uint32_t stride;
  std::uint32_t count;
  std::uint32_t start;
};

// Own data: blocks take the chunks round robin. Shared data: every block reads all chunks, each
// from a start of its own.
__device__ Route route_of(std::uint32_t chunks_per_block, bool own) {
  if (own) return {blockIdx.x, gridDim.x, chunks_per_block, 0};
  return {0, 1, chunks_per_block * gridDim.x, blockIdx.x * chunks_per_block};
}

__global__ void __launch_bounds__(kThreads, 1)
    read_chunks(const uint4* data, std::uint32_t chunks_per_block, bool own, std::uint32_t visits,
                std::uint32_t* found) {
  const Route route = route_of(chunks_per_block, own);
  std::uint32_t turn = route.start, sum = 0;
#pragma unroll 1
  for (std::uint32_t i = 0; i < visits; i += kUnroll) {
    uint4 v[kUnroll];
#pragma unroll
    for (unsigned u = 0; u < kUnroll; ++u) {
      const std::size_t chunk = route.first + std::size_t{turn} * route.stride;
      v[u] = load_past_l1(data + chunk * kThreads + threadIdx.x);
      if (++turn == route.count) turn = 0;
    }
#pragma unroll
    for (unsigned u = 0; u < kUnroll; ++u) sum += sum_of(v[u]);
  }
  if (sum == 4 * visits * Lab::kFill) atomicAdd(found, 1u);
}

// Copies, or without kCopy writes alone (`in` is not read).
template <bool kCopy>
__global__ void __launch_bounds__(kThreads, 1)
    write_chunks(const uint4* in, uint4* out, std::uint32_t chunks_per_block,
                 std::uint32_t visits) {
  const Route route = route_of(chunks_per_block, true);
  std::uint32_t turn = 0;
#pragma unroll 1
  for (std::uint32_t i = 0; i < visits; i += kUnroll) {
    uint4 v[kUnroll];
    std::size_t at[kUnroll];
#pragma unroll
    for (unsigned u = 0; u < kUnroll; ++u) {
      at[u] = (route.first + std::size_t{turn} * route.stride) * kThreads + threadIdx.x;
      v[u] = kCopy ? load_past_l1(in + at[u])
                   : make_uint4(Lab::kFill, Lab::kFill, Lab::kFill, Lab::kFill);
      if (++turn == route.count) turn = 0;
    }
#pragma unroll
    for (unsigned u = 0; u < kUnroll; ++u) {
      asm volatile("st.global.v4.u32 [%0], {%1,%2,%3,%4};" ::"l"(out + at[u]), "r"(v[u].x),
                   "r"(v[u].y), "r"(v[u].z), "r"(v[u].w)
                   : "memory");
    }
  }
}

std::uint32_t chunks_of(const Lab& lab, std::size_t footprint) {
  return static_cast<std::uint32_t>(footprint / kChunkBytes / lab.sms());
}

std::uint32_t visits_for(const Lab& lab, std::uint32_t round, double total) {
  const double rounds =
      std::max(1.0, std::round(total / kChunkBytes / lab.sms() / static_cast<double>(round)));
  const auto visits = static_cast<std::uint32_t>(rounds * round);
  return (visits + kUnroll - 1) / kUnroll * kUnroll;
}

double bytes_of(const Lab& lab, std::uint32_t visits) {
  return static_cast<double>(visits) * kChunkBytes * lab.sms();
}

constexpr double kCacheTotal = 12e9;  // more than a millisecond at any bandwidth of L2

double read_rate(Lab& lab, std::size_t footprint, double total, bool own) {
  double bytes = 0;
  lab.clear_found();
  const double seconds = lab.seconds([&] { bytes = enqueue_reads(lab, footprint, total, own); }, 3);
  lab.expect_found(4 * std::size_t{lab.sms()} * kThreads, "bandwidth");
  return bytes / seconds;
}

// Bytes read plus written per second. A copy's source and target are the halves of the footprint.
template <bool kCopy>
double write_rate(Lab& lab, std::size_t footprint, double total) {
  const std::size_t half = kCopy ? footprint / 2 : footprint;
  const std::uint32_t chunks = chunks_of(lab, half);
  const std::uint32_t visits = visits_for(lab, chunks, kCopy ? total / 2 : total);
  auto* target = lab.buffer<uint4>();
  const uint4* source = target + std::size_t{chunks} * lab.sms() * kThreads;
  check(cudaMemsetAsync(target, 0, half, lab.stream()));
  const double seconds = lab.seconds(
      [&] {
        write_chunks<kCopy>
            <<<lab.sms(), kThreads, 0, lab.stream()>>>(source, target, chunks, visits);
        check(cudaGetLastError());
      },
      3);
  // Checks the last chunk written, in place of all.
  const std::size_t written = std::size_t{std::min(chunks, visits)} * lab.sms() * kThreads;
  const auto tail = lab.read(target + written - kThreads, kThreads);
  if (std::any_of(tail.begin(), tail.end(), [](const uint4& v) { return v.w != Lab::kFill; })) {
    throw std::runtime_error("bandwidth: a copy did not arrive");
  }
  return (kCopy ? 2 : 1) * bytes_of(lab, visits) / seconds;
}

constexpr std::size_t kMiB = std::size_t{1} << 20;

std::vector<std::size_t> cache_footprints(const Lab& lab) {
  std::vector<std::size_t> footprints;
  const std::size_t step = std::max(std::size_t{1}, lab.l2_bytes() / kMiB / 24) * kMiB;
  for (std::size_t bytes = step; bytes <= 5 * lab.l2_bytes() / 2;
       bytes += bytes < lab.l2_bytes() * 5 / 4 ? step : 6 * step) {
    footprints.push_back(divided_footprint(lab, bytes));
  }
  footprints.erase(std::unique(footprints.begin(), footprints.end()), footprints.end());
  return footprints;
}

}  // namespace

std::size_t divided_footprint(const Lab& lab, std::size_t bytes) {
  const std::size_t round = kChunkBytes * lab.sms();
  return std::max(std::size_t{1}, bytes / round) * round;
}

double enqueue_reads(Lab& lab, std::size_t footprint, double total, bool own) {
  const std::uint32_t chunks = chunks_of(lab, footprint);
  const std::uint32_t visits = visits_for(lab, own ? chunks : chunks * lab.sms(), total);
  read_chunks<<<lab.sms(), kThreads, 0, lab.stream()>>>(lab.buffer<uint4>(), chunks, own, visits,
                                                        lab.found());
  check(cudaGetLastError());
  return bytes_of(lab, visits);
}

Curves bandwidth(Lab& lab) {
  lab.fill_buffer();
  validation::Curve own{"bandwidth", "L2 read, own data", "footprint_bytes", "B/s", {}};
  validation::Curve shared{"bandwidth", "L2 read, shared data", "footprint_bytes", "B/s", {}};
  for (const std::size_t bytes : cache_footprints(lab)) {
    const auto x = static_cast<double>(bytes);
    own.points.push_back({x, read_rate(lab, bytes, kCacheTotal, true)});
    shared.points.push_back({x, read_rate(lab, bytes, kCacheTotal, false)});
  }
  Curves out;
  const std::size_t quarter = divided_footprint(lab, lab.l2_bytes() / 4);
  out.push_back(validation::single("bandwidth", "L2 write", "B/s",
                                   write_rate<false>(lab, quarter, kCacheTotal)));
  out.push_back(validation::single("bandwidth", "L2 copy", "B/s",
                                   write_rate<true>(lab, quarter, kCacheTotal)));
  const std::size_t all = divided_footprint(lab, lab.buffer_bytes());
  const std::size_t part = divided_footprint(lab, lab.buffer_bytes() / 4);
  lab.fill_buffer();
  constexpr double kDramRounds = 2;
  const auto whole = static_cast<double>(all);
  validation::Curve dram{"bandwidth", "DRAM read", "footprint_bytes", "B/s", {}};
  for (const std::size_t bytes : {part, all}) {
    const double rate = read_rate(lab, bytes, kDramRounds * whole, true);
    dram.points.push_back({static_cast<double>(bytes), rate});
  }
  out.push_back(validation::single("bandwidth", "DRAM write", "B/s",
                                   write_rate<false>(lab, all, kDramRounds * whole)));
  out.push_back(validation::single("bandwidth", "DRAM copy", "B/s",
                                   write_rate<true>(lab, all, kDramRounds * whole)));
  lab.fill_buffer();
  out.insert(out.begin(), {std::move(own), std::move(shared), std::move(dram)});
  return out;
}

}  // namespace roofcast::microbench
