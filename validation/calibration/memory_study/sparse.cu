// Reads and writes of pieces of lines and DRAM rows, at random places and at fixed strides.
#include <algorithm>

#include "validation/calibration/memory_study/study.hpp"
#include "validation/calibration/microbench/device.cuh"

namespace roofcast::microbench {
namespace {

constexpr unsigned kThreads = 512;
constexpr unsigned kBlocksPerSm = 4;
constexpr unsigned kDeep = 4;
constexpr std::size_t kMiB = std::size_t{1} << 20;

__device__ std::uint32_t mixed(std::uint32_t x) {  // every bit reaches all
  x = (x ^ (x >> 16)) * 0x7feb352du;
  x = (x ^ (x >> 15)) * 0x846ca68bu;
  return x ^ (x >> 16);
}

// Where pieces lie: at random, or one after the other, `stride` apart.
struct Places {
  std::uint32_t count;   ///< places in the table
  std::uint32_t stride;  ///< between places, in vectors of 16 B
  std::uint32_t shift;   ///< added to every address (B); 0: aligned pieces
  std::uint32_t seed;
  bool random;
};

__device__ std::size_t place(const Places& at, std::uint32_t turn) {
  const std::uint32_t which =
      at.random ? __umulhi(mixed(turn + at.seed), at.count) : (turn + at.seed) % at.count;
  return std::size_t{which} * at.stride;
}

// kLanes lanes access a piece of kLanes · 16 B. A read loads the 16 B of each lane; a write stores
// all of them, or the first 4 B where kBytes is not 16.
template <unsigned kLanes, bool kWrite, unsigned kBytes = 16>
__global__ void __launch_bounds__(kThreads)
    touch_pieces(std::byte* table, Places at, std::uint32_t visits, std::uint32_t* never) {
  const std::uint32_t thread = blockIdx.x * blockDim.x + threadIdx.x;
  const std::uint32_t groups = gridDim.x * blockDim.x / kLanes;
  std::uint32_t turn = thread / kLanes, sum = 0;
#pragma unroll 1
  for (std::uint32_t i = 0; i < visits; i += kDeep) {
    std::uint32_t v[kDeep] = {};
#pragma unroll
    for (unsigned u = 0; u < kDeep; ++u) {
      std::byte* const p = table + (place(at, turn) + thread % kLanes) * 16 + at.shift;
      turn += groups;
      if constexpr (kWrite && kBytes == 16) {
        *reinterpret_cast<uint4*>(p) = make_uint4(Lab::kFill, Lab::kFill, Lab::kFill, Lab::kFill);
      } else if constexpr (kWrite) {
        *reinterpret_cast<std::uint32_t*>(p) = Lab::kFill;
      } else {
        v[u] = sum_of(load_past_l1(reinterpret_cast<const uint4*>(p)));
      }
    }
#pragma unroll
    for (unsigned u = 0; u < kDeep; ++u) sum += v[u];
  }
  if (sum == 0x5eed5eed) *never += 1;
}

// Pieces accessed per second.
template <unsigned kLanes, bool kWrite, unsigned kBytes = 16>
double piece_rate(Lab& lab, std::size_t table, std::size_t stride, bool random, double pieces,
                  std::uint32_t shift = 0) {
  const unsigned blocks = lab.sms() * kBlocksPerSm;
  const double groups = static_cast<double>(blocks) * kThreads / kLanes;
  const auto visits = static_cast<std::uint32_t>(pieces / groups / kDeep + 1) * kDeep;
  Places at{static_cast<std::uint32_t>(table / stride) - 1, static_cast<std::uint32_t>(stride / 16),
            shift, 1, random};
  const double seconds = lab.seconds(
      [&] {
        touch_pieces<kLanes, kWrite, kBytes><<<blocks, kThreads, 0, lab.stream()>>>(
            lab.buffer<std::byte>(), at, visits, lab.found());
        check(cudaGetLastError());
        at.seed += static_cast<std::uint32_t>(groups) * visits;
      },
      3);
  return groups * visits / seconds;
}

template <unsigned kLanes, bool kWrite>
void by_stride(Lab& lab, const std::string& what, std::size_t table, double total, Curves& out) {
  const std::string name =
      std::to_string(kLanes * 16) + " B pieces " + (kWrite ? "written" : "read") + ", " + what;
  validation::Curve curve{"sparse", name + ", by stride", "stride_bytes", "1/s", {}};
  for (const std::size_t stride : {32, 64, 96, 128, 192, 256, 512, 1024, 2048, 4096}) {
    if (stride < kLanes * 16) continue;
    curve.points.push_back({static_cast<double>(stride),
                            piece_rate<kLanes, kWrite>(lab, table, stride, false, total)});
  }
  out.push_back(std::move(curve));
  out.push_back(
      validation::single("sparse", name + ", at random", "1/s",
                         piece_rate<kLanes, kWrite>(lab, table, kLanes * 16, true, total)));
}

template <unsigned kLanes>
void read_and_written(Lab& lab, const std::string& what, std::size_t table, double total,
                      Curves& out) {
  by_stride<kLanes, false>(lab, what, table, total, out);
  by_stride<kLanes, true>(lab, what, table, total, out);
}

}  // namespace

Curves sparse_access(Lab& lab) {
  Curves out;
  const std::size_t cached = 8 * kMiB;
  const std::size_t all = lab.buffer_bytes();
  constexpr double kCached = 60e6, kDram = 20e6;
  read_and_written<2>(lab, "8 MiB", cached, kCached, out);
  read_and_written<4>(lab, "8 MiB", cached, kCached, out);
  read_and_written<8>(lab, "8 MiB", cached, kCached, out);
  read_and_written<2>(lab, "DRAM", all, kDram, out);
  read_and_written<4>(lab, "DRAM", all, kDram, out);
  read_and_written<8>(lab, "DRAM", all, kDram, out);
  read_and_written<16>(lab, "DRAM", all, kDram / 2, out);
  read_and_written<32>(lab, "DRAM", all, kDram / 4, out);
  // Writes of part of a sector or line, and writes of 512 B a warp, shifted by 0 to 64 B.
  out.push_back(validation::single("sparse", "4 B of a sector written, 8 MiB", "1/s",
                                   piece_rate<1, true, 4>(lab, cached, 32, false, kCached)));
  out.push_back(validation::single("sparse", "4 B of a line written, 8 MiB", "1/s",
                                   piece_rate<1, true, 4>(lab, cached, 128, false, kCached)));
  validation::Curve shifted{"sparse", "512 B of a warp written, 8 MiB", "shift_bytes", "1/s", {}};
  for (const std::uint32_t shift : {0u, 16u, 32u, 64u}) {
    shifted.points.push_back({static_cast<double>(shift),
                              piece_rate<32, true>(lab, cached, 512, false, kCached / 8, shift)});
  }
  out.push_back(std::move(shifted));
  lab.fill_buffer();
  return out;
}

}  // namespace roofcast::microbench
