// Bandwidth of L2 and DRAM by share of reads, blocks per SM and offset of the target; of L2 also by
// number of SMs and by the share of reads that come from DRAM.
#include "validation/calibration/memory_study/streams.cuh"

namespace roofcast::microbench {
namespace {

constexpr std::size_t kMiB = std::size_t{1} << 20;
constexpr double kCacheTotal = 6e9;
constexpr double kDramTotal = 3e9;

std::string named(const std::string& what, Geometry geometry, unsigned deep) {
  return what + ", " + std::to_string(geometry.blocks_per_sm) + " x " +
         std::to_string(geometry.threads) + " threads, " + std::to_string(deep) + " deep";
}

constexpr Geometry kGeometries[] = {{1, 1024}, {2, 1024}, {2, 512}, {4, 512}, {8, 256}};

// Each step reads kHits chunks of a region that stays in L2 and kMisses chunks from DRAM.
template <unsigned kHits, unsigned kMisses>
__global__ void read_both(const uint4* kept, const uint4* far, Round hits, Round misses,
                          std::uint32_t steps, std::uint32_t* never) {
  std::uint32_t near_turn = 0, far_turn = 0, sum = 0;
#pragma unroll 1
  for (std::uint32_t i = 0; i < steps; ++i) {
    uint4 v[kHits + kMisses];
#pragma unroll
    for (int u = 0; u < static_cast<int>(kHits); ++u) {
      v[u] = load_past_l1(kept + chunk_at(near_turn));
      if (++near_turn == hits.count) near_turn = 0;
    }
#pragma unroll
    for (int u = 0; u < static_cast<int>(kMisses); ++u) {
      v[kHits + u] = load_past_l1(far + chunk_at(far_turn));
      if (++far_turn == misses.count) far_turn = 0;
    }
#pragma unroll
    for (unsigned u = 0; u < kHits + kMisses; ++u) sum += sum_of(v[u]);
  }
  if (sum == 0x5eed5eed) *never += 1;
}

template <unsigned kHits, unsigned kMisses>
validation::CurvePoint fill_rate(Lab& lab) {
  constexpr Geometry kGeometry{2, 1024};
  const unsigned blocks = lab.sms() * kGeometry.blocks_per_sm;
  const std::size_t chunk = std::size_t{blocks} * kGeometry.threads * 16;
  const double step = static_cast<double>((kHits + kMisses) * chunk);
  const auto steps = static_cast<std::uint32_t>(3e9 / step) + 1;
  const Round hits{static_cast<std::uint32_t>(8 * kMiB / chunk)};
  const Round misses{static_cast<std::uint32_t>(2048 * kMiB / chunk)};
  const auto* kept = lab.buffer<uint4>();
  const double seconds = lab.seconds(
      [&] {
        read_both<kHits, kMisses><<<blocks, kGeometry.threads, 0, lab.stream()>>>(
            kept, kept + 1024 * kMiB / 16, hits, misses, steps, lab.found());
        check(cudaGetLastError());
      },
      3);
  return {static_cast<double>(kMisses) / (kHits + kMisses), step * steps / seconds};
}

template <bool kWrites>
validation::Curve by_sms(Lab& lab) {
  validation::Curve out{
      "l2_mix", kWrites ? "writes by so many SMs" : "reads by so many SMs", "sms", "B/s", {}};
  for (unsigned sms : {1u, 2u, 4u, 8u, 16u, 33u, 66u, 99u, 132u}) {
    sms = std::min(sms, lab.sms());
    const std::size_t chunk = std::size_t{sms} * 1024 * 16;
    const Round round{static_cast<std::uint32_t>(std::max<std::size_t>(1, 16 * kMiB / chunk))};
    const auto steps = static_cast<std::uint32_t>(40e6 / (1024 * 16)) / 8 * 8;
    auto* at = lab.buffer<uint4>();
    const double seconds = lab.seconds(
        [&] {
          stream_mix<kWrites ? 0 : 1, kWrites ? 1 : 0, 8>
              <<<sms, 1024, 0, lab.stream()>>>(at, at, round, round, steps, lab.found());
          check(cudaGetLastError());
        },
        3);
    out.points.push_back({static_cast<double>(sms), 16384.0 * steps * sms / seconds});
  }
  return out;
}

}  // namespace

Curves l2_bandwidth(Lab& lab) {
  Curves out;
  const Region source{0, 8 * kMiB}, target{8 * kMiB, 8 * kMiB};
  for (const Geometry& geometry : kGeometries) {
    out.push_back(by_share<1>(lab, "l2_mix", named("resident", geometry, 1), geometry, source,
                              target, kCacheTotal));
    out.push_back(by_share<2>(lab, "l2_mix", named("resident", geometry, 2), geometry, source,
                              target, kCacheTotal));
  }
  out.push_back(by_share<1>(lab, "l2_mix", named("in place", {4, 512}, 1), {4, 512}, source, source,
                            kCacheTotal));
  out.push_back(by_sms<false>(lab));
  out.push_back(by_sms<true>(lab));
  out.push_back(
      {"l2_mix",
       "reads of which a share comes from DRAM",
       "dram_share",
       "B/s",
       {fill_rate<8, 0>(lab), fill_rate<15, 1>(lab), fill_rate<7, 1>(lab), fill_rate<6, 2>(lab),
        fill_rate<4, 4>(lab), fill_rate<2, 6>(lab), fill_rate<0, 8>(lab)}});
  lab.fill_buffer();
  return out;
}

Curves dram_mix(Lab& lab) {
  Curves out;
  const Region source{0, 1024 * kMiB};
  for (const Geometry& geometry : kGeometries) {
    const Region target{2048 * kMiB, 1024 * kMiB};
    out.push_back(by_share<1>(lab, "dram_mix", named("streams", geometry, 1), geometry, source,
                              target, kDramTotal));
    out.push_back(by_share<2>(lab, "dram_mix", named("streams", geometry, 2), geometry, source,
                              target, kDramTotal));
  }
  for (const std::size_t offset :
       {std::size_t{512}, 4 * kMiB / 1024, 64 * kMiB / 1024, kMiB, 33 * kMiB}) {
    const Region target{2048 * kMiB + offset, 1024 * kMiB};
    out.push_back(by_share<1>(lab, "dram_mix", "target " + std::to_string(offset) + " B further on",
                              {8, 256}, source, target, kDramTotal));
  }
  out.push_back(by_share<1>(lab, "dram_mix", "in place", {8, 256}, source, source, kDramTotal));
  lab.fill_buffer();
  return out;
}

}  // namespace roofcast::microbench
