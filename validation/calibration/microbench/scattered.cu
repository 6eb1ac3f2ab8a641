#include <algorithm>
#include <string>

#include "validation/calibration/microbench/device.cuh"
#include "validation/calibration/microbench/lab.hpp"
#include "validation/calibration/microbench/microbench.hpp"

namespace roofcast::microbench {
namespace {

constexpr unsigned kThreads = 1024;
constexpr unsigned kUnroll = 8;

__device__ std::uint32_t mixed(std::uint32_t x) {  // Mueller's 32-bit mix: every bit reaches all
  x = (x ^ (x >> 16)) * 0x45d9f3bu;
  x = (x ^ (x >> 16)) * 0x45d9f3bu;
  return x ^ (x >> 16);
}

// Each group of kPiece ÷ 16 lanes reads pieces at random places.
template <unsigned kPiece>
__global__ void __launch_bounds__(kThreads, 1)
    read_pieces(const uint4* table, std::uint32_t pieces, std::uint32_t visits, std::uint32_t seed,
                std::uint32_t* found) {
  constexpr unsigned kLanes = kPiece / sizeof(uint4);
  const std::uint32_t thread = blockIdx.x * blockDim.x + threadIdx.x;
  const std::uint32_t groups = gridDim.x * blockDim.x / kLanes;
  std::uint32_t draw = seed + thread / kLanes;
  std::uint32_t sum = 0;
#pragma unroll 1
  for (std::uint32_t i = 0; i < visits; i += kUnroll) {
    uint4 v[kUnroll];
#pragma unroll
    for (unsigned u = 0; u < kUnroll; ++u) {
      const std::uint32_t piece = __umulhi(mixed(draw), pieces);
      v[u] = load_past_l1(table + std::size_t{piece} * kLanes + thread % kLanes);
      draw += groups;
    }
#pragma unroll
    for (unsigned u = 0; u < kUnroll; ++u) sum += sum_of(v[u]);
  }
  if (sum == 4 * visits * Lab::kFill) atomicAdd(found, 1u);
}

// Bytes requested per second.
template <unsigned kPiece>
double rate(Lab& lab, std::size_t table_bytes, double total) {
  const std::size_t threads = std::size_t{lab.sms()} * kThreads;
  const auto pieces = static_cast<std::uint32_t>(table_bytes / kPiece);
  const auto visits =
      static_cast<std::uint32_t>(total / static_cast<double>(threads * sizeof(uint4)) / kUnroll) *
      kUnroll;
  std::uint32_t seed = 1;
  constexpr int kSamples = 3;
  lab.clear_found();
  const double seconds = lab.seconds(
      [&] {
        read_pieces<kPiece><<<lab.sms(), kThreads, 0, lab.stream()>>>(lab.buffer<uint4>(), pieces,
                                                                      visits, seed, lab.found());
        check(cudaGetLastError());
        seed += static_cast<std::uint32_t>(threads * visits);
      },
      kSamples);
  lab.expect_found((kSamples + 1) * threads, "scattered");
  return static_cast<double>(threads * visits * sizeof(uint4)) / seconds;
}

validation::Curve by_piece(Lab& lab, const std::string& series, std::size_t table_bytes,
                           double total) {
  return {"scattered",
          series,
          "piece_bytes",
          "B/s",
          {{32, rate<32>(lab, table_bytes, total)},
           {64, rate<64>(lab, table_bytes, total)},
           {128, rate<128>(lab, table_bytes, total)}}};
}

}  // namespace

Curves scattered(Lab& lab) {
  constexpr std::size_t kMiB = std::size_t{1} << 20;
  constexpr double kDramTotal = 4e9;
  constexpr double kCacheTotal = 8e9;
  Curves out;
  out.push_back(by_piece(lab, "L2, 16 MiB table", 16 * kMiB, kCacheTotal));
  const std::size_t dram = std::min(std::size_t{1024} * kMiB, lab.buffer_bytes());
  out.push_back(by_piece(lab, "DRAM, 1 GiB table", dram, kDramTotal));
  if (lab.buffer_bytes() > dram) {
    out.push_back(by_piece(lab, "DRAM, whole buffer", lab.buffer_bytes(), kDramTotal));
  }
  return out;
}

}  // namespace roofcast::microbench
