#pragma once
// Steady streams of reads and writes in a given proportion, for the bandwidth studies.
#include <algorithm>
#include <cmath>
#include <string>

#include "validation/calibration/memory_study/study.hpp"
#include "validation/calibration/microbench/device.cuh"

namespace roofcast::microbench {

struct Geometry {
  unsigned blocks_per_sm;
  unsigned threads;
};

// Number of chunks (one 16 B vector a thread) that a block visits before it starts over.
struct Round {
  std::uint32_t count;
};

__device__ inline std::size_t chunk_at(std::uint32_t turn) {
  return (blockIdx.x + std::size_t{turn} * gridDim.x) * blockDim.x + threadIdx.x;
}

// Each step reads kReads chunks and writes kWrites chunks; kDeep steps are in flight.
template <unsigned kReads, unsigned kWrites, unsigned kDeep>
__global__ void stream_mix(const uint4* in, uint4* out, Round reads, Round writes,
                           std::uint32_t steps, std::uint32_t* never) {
  std::uint32_t from = 0, to = 0, sum = 0;
#pragma unroll 1
  for (std::uint32_t i = 0; i < steps; i += kDeep) {
    constexpr unsigned kVectors = kReads == 0 ? 1 : kReads * kDeep;
    uint4 v[kVectors];
    v[0] = make_uint4(Lab::kFill, Lab::kFill, Lab::kFill, Lab::kFill);
#pragma unroll
    for (int u = 0; u < static_cast<int>(kReads * kDeep); ++u) {
      v[u] = load_past_l1(in + chunk_at(from));
      if (++from == reads.count) from = 0;
    }
#pragma unroll
    for (int u = 0; u < static_cast<int>(kWrites * kDeep); ++u) {
      out[chunk_at(to)] = v[static_cast<unsigned>(u) % kVectors];
      if (++to == writes.count) to = 0;
    }
    if (kWrites == 0) {
#pragma unroll
      for (int u = 0; u < static_cast<int>(kReads * kDeep); ++u) sum += sum_of(v[u]);
    }
  }
  if (sum == 0x5eed5eed) *never += 1;
}

struct Region {
  std::size_t offset;
  std::size_t bytes;
};

/// Bytes read plus bytes written, per second.
template <unsigned kReads, unsigned kWrites, unsigned kDeep>
double mix_rate(Lab& lab, Geometry geometry, Region source, Region target, double total) {
  const unsigned blocks = lab.sms() * geometry.blocks_per_sm;
  const double step = static_cast<double>(kReads + kWrites) * blocks * geometry.threads * 16;
  const auto steps = static_cast<std::uint32_t>(std::ceil(total / step / kDeep)) * kDeep;
  const auto round = [&](std::size_t bytes) {
    const std::size_t count = bytes / (std::size_t{blocks} * geometry.threads * 16);
    return Round{static_cast<std::uint32_t>(std::max<std::size_t>(1, count))};
  };
  const auto* in = lab.buffer<uint4>() + source.offset / 16;
  auto* out = lab.buffer<uint4>() + target.offset / 16;
  constexpr int kSamples = 3;
  const double seconds = lab.seconds(
      [&] {
        stream_mix<kReads, kWrites, kDeep><<<blocks, geometry.threads, 0, lab.stream()>>>(
            in, out, round(source.bytes), round(target.bytes), steps, lab.found());
        check(cudaGetLastError());
      },
      kSamples);
  return step * steps / seconds;
}

/// The rate (B/s) at seven shares of reads, from writes alone to reads alone.
template <unsigned kDeep>
validation::Curve by_share(Lab& lab, const std::string& study, const std::string& series,
                           Geometry geometry, Region source, Region target, double total) {
  const auto rate = [&]<unsigned kReads, unsigned kWrites>() {
    return validation::CurvePoint{
        static_cast<double>(kReads) / (kReads + kWrites),
        mix_rate<kReads, kWrites, kDeep>(lab, geometry, source, target, total)};
  };
  return {study,
          series,
          "read_share",
          "B/s",
          {rate.template operator()<0, 1>(), rate.template operator()<1, 3>(),
           rate.template operator()<1, 2>(), rate.template operator()<1, 1>(),
           rate.template operator()<2, 1>(), rate.template operator()<3, 1>(),
           rate.template operator()<1, 0>()}};
}

}  // namespace roofcast::microbench
