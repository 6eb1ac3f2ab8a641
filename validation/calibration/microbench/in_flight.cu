// DRAM read bandwidth by bytes in flight (Little's law: bandwidth = bytes in flight ÷ latency).
#include <algorithm>
#include <array>
#include <optional>
#include <string>

#include "validation/calibration/microbench/device.cuh"
#include "validation/calibration/microbench/lab.hpp"
#include "validation/calibration/microbench/microbench.hpp"

namespace roofcast::microbench {
namespace {

constexpr unsigned kMostThreads = 1024;

template <class Vector>
__device__ Vector load_in_order(const Vector* p);
template <>
__device__ std::uint32_t load_in_order(const std::uint32_t* p) {
  std::uint32_t v;
  asm volatile("ld.global.u32 %0, [%1];" : "=r"(v) : "l"(p));
  return v;
}
template <>
__device__ uint2 load_in_order(const uint2* p) {
  uint2 v;
  asm volatile("ld.global.v2.u32 {%0,%1}, [%2];" : "=r"(v.x), "=r"(v.y) : "l"(p));
  return v;
}
template <>
__device__ uint4 load_in_order(const uint4* p) {
  uint4 v;
  asm volatile("ld.global.v4.u32 {%0,%1,%2,%3}, [%4];"
               : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
               : "l"(p));
  return v;
}

__device__ std::uint32_t words_sum(std::uint32_t v) {
  return v;
}
__device__ std::uint32_t words_sum(const uint2& v) {
  return v.x + v.y;
}
__device__ std::uint32_t words_sum(const uint4& v) {
  return v.x + v.y + v.z + v.w;
}

// Each thread issues kLoads loads, waits for all of them and issues the next. All blocks are
// resident at once. The launch bounds ask for one block per SM: with two, ptxas would save
// registers by waiting for the first loads before it issues the last.
template <class Vector, unsigned kLoads>
__global__ void __launch_bounds__(kMostThreads, 1)
    read_in_batches(const Vector* data, std::uint32_t batches, std::uint32_t* found) {
  const std::size_t threads = std::size_t{gridDim.x} * blockDim.x;
  const Vector* p = data + std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  std::uint32_t sum = 0;
#pragma unroll 1
  for (std::uint32_t i = 0; i < batches; ++i) {
    Vector v[kLoads];
#pragma unroll
    for (unsigned u = 0; u < kLoads; ++u) v[u] = load_in_order(p + u * threads);
    p += kLoads * threads;
#pragma unroll
    for (unsigned u = 0; u < kLoads; ++u) sum += words_sum(v[u]);
  }
  constexpr auto kWords = static_cast<std::uint32_t>(kLoads * sizeof(Vector) / 4);
  if (sum == batches * kWords * Lab::kFill) atomicAdd(found, 1u);
}

// Each launch reads on from where the last one ended, so that L2 holds none of its data.
class Cursor {
 public:
  explicit Cursor(std::size_t size) : size_(size) {}
  std::size_t take(std::size_t bytes) {
    constexpr std::size_t kAlignment = std::size_t{1} << 21;
    if (at_ + bytes > size_) at_ = 0;
    const std::size_t from = at_;
    at_ += (bytes + kAlignment - 1) / kAlignment * kAlignment;
    return from;
  }

 private:
  std::size_t size_;
  std::size_t at_ = 0;
};

constexpr double kTarget_s = 1e-3;
constexpr double kGuessedLatency_s = 0.6e-6;
constexpr double kGuessedBandwidth = 4e12;

// DRAM bandwidth (B/s) with `warps` per SM; nothing if they do not fit.
template <class Vector, unsigned kLoads>
std::optional<double> rate(Lab& lab, Cursor& cursor, unsigned warps) {
  const unsigned blocks_per_sm = std::max(1u, warps * 32 / kMostThreads);
  const unsigned threads = warps * 32 / blocks_per_sm;
  int fit = 0;
  check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&fit, read_in_batches<Vector, kLoads>,
                                                      static_cast<int>(threads), 0));
  if (fit < static_cast<int>(blocks_per_sm)) return std::nullopt;
  const unsigned blocks = lab.sms() * blocks_per_sm;
  const std::size_t batch = std::size_t{blocks} * threads * kLoads * sizeof(Vector);
  const double guess =
      std::min(kGuessedBandwidth, static_cast<double>(batch) / kGuessedLatency_s) * kTarget_s;
  const double most = static_cast<double>(lab.buffer_bytes() / 2);
  const auto batches =
      static_cast<std::uint32_t>(std::max(1.0, std::min(guess, most) / static_cast<double>(batch)));
  const std::size_t bytes = batches * batch;
  constexpr int kSamples = 3;
  lab.clear_found();
  const double seconds = lab.seconds(
      [&] {
        const auto* from =
            reinterpret_cast<const Vector*>(lab.buffer<std::byte>() + cursor.take(bytes));
        read_in_batches<Vector, kLoads>
            <<<blocks, threads, 0, lab.stream()>>>(from, batches, lab.found());
        check(cudaGetLastError());
      },
      kSamples);
  lab.expect_found((kSamples + 1) * std::size_t{blocks} * threads, "in_flight");
  return static_cast<double>(bytes) / seconds;
}

template <class Vector, unsigned kLoads>
void measure(Lab& lab, Cursor& cursor, Curves& out) {
  const std::string series =
      std::to_string(sizeof(Vector)) + " B x " + std::to_string(kLoads) + " loads";
  validation::Curve rates{"in_flight", series, "warps_per_sm", "B/s", {}};
  validation::Curve latencies{
      "in_flight", series + ", loaded latency", "bytes_in_flight_per_sm", "s", {}};
  for (const unsigned warps : {1u, 2u, 4u, 8u, 16u, 32u, 64u}) {
    const auto bytes_per_s = rate<Vector, kLoads>(lab, cursor, warps);
    if (!bytes_per_s) continue;
    const double in_flight = warps * 32.0 * kLoads * sizeof(Vector);
    rates.points.push_back({static_cast<double>(warps), *bytes_per_s});
    latencies.points.push_back({in_flight, in_flight * lab.sms() / *bytes_per_s});
  }
  out.push_back(std::move(rates));
  out.push_back(std::move(latencies));
}

template <class Vector>
void measure_width(Lab& lab, Cursor& cursor, Curves& out) {
  measure<Vector, 1>(lab, cursor, out);
  measure<Vector, 2>(lab, cursor, out);
  measure<Vector, 4>(lab, cursor, out);
  measure<Vector, 8>(lab, cursor, out);
}

}  // namespace

Curves bytes_in_flight(Lab& lab) {
  Cursor cursor(lab.buffer_bytes());
  Curves out;
  measure_width<std::uint32_t>(lab, cursor, out);
  measure_width<uint2>(lab, cursor, out);
  measure_width<uint4>(lab, cursor, out);
  return out;
}

}  // namespace roofcast::microbench
