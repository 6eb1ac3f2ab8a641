// y[c][r] = x[r][c]: rows·columns elements in, as many out, and no arithmetic. One of the two sides
// has to be walked across its rows.
//
//   naive    loads run along the rows of x, stores down the columns of y: each lane's store lies in
//   a
//            row, and so in a sector, of its own: 32 sectors of 32 B for a warp's 32 elements
//   tiled    a tile goes through shared memory: both loads and stores run along rows. But a warp
//   that
//            reads a column of a tile 32 words wide finds all of it in one bank: 32 cycles, not one
//   padded   rows of the tile are one word longer, so a column lies across all banks
//
// A block of 32 × 8 threads moves a tile of 32 × 32, each thread four elements: 2048 threads of an
// SM have 32 KB of fp32 in flight. Elements of two bytes go in pairs, with tiles of 64 × 64, so
// that a warp still moves whole lines of 128 B: y's pairs are put together from two rows of the
// tile.
#include "kernels/transpose/transpose.hpp"

#include <array>
#include <cstdint>

#include "kernels/common/element.cuh"
#include "kernels/common/error.hpp"
#include "model/kernels/transpose.hpp"

namespace roofcast::cuda::transpose {
namespace {

using roofcast::transpose::kColumns;
using roofcast::transpose::kRows;
constexpr auto kLanes = static_cast<int>(roofcast::transpose::kLanes);
constexpr auto kWarps = static_cast<int>(roofcast::transpose::kWarps);
constexpr int kThreads = kLanes * kWarps;

/// The tile in units of what a lane moves: elements, or pairs of two-byte elements.
constexpr int kTile = 32;

template <class T>
__global__ __launch_bounds__(kThreads) void naive_kernel(const T* __restrict__ x, T* __restrict__ y,
                                                         std::int64_t rows, std::int64_t columns) {
  const std::int64_t column = std::int64_t{blockIdx.x} * kTile + threadIdx.x;
  const std::int64_t first = std::int64_t{blockIdx.y} * kTile + threadIdx.y;
#pragma unroll
  for (int i = 0; i < kTile; i += kWarps) {
    const std::int64_t row = first + i;
    if (row < rows && column < columns) y[column * rows + row] = x[row * columns + column];
  }
}

template <class T, int kPad>
__global__ __launch_bounds__(kThreads) void tiled_kernel(const T* __restrict__ x, T* __restrict__ y,
                                                         std::int64_t rows, std::int64_t columns) {
  __shared__ T tile[kTile][kTile + kPad];
  const auto lane = static_cast<int>(threadIdx.x);
  const auto warp = static_cast<int>(threadIdx.y);
  const std::int64_t row0 = std::int64_t{blockIdx.y} * kTile;
  const std::int64_t column0 = std::int64_t{blockIdx.x} * kTile;
#pragma unroll
  for (int i = warp; i < kTile; i += kWarps) {
    if (row0 + i < rows && column0 + lane < columns) {
      tile[i][lane] = x[(row0 + i) * columns + column0 + lane];
    }
  }
  __syncthreads();
#pragma unroll
  for (int i = warp; i < kTile; i += kWarps) {
    if (column0 + i < columns && row0 + lane < rows) {
      y[(column0 + i) * rows + row0 + lane] = tile[lane][i];
    }
  }
}

/// Two-byte elements, in pairs: a tile of 64 × 64. Both extents are even and both addresses
/// aligned.
template <int kPad>
__global__ __launch_bounds__(kThreads) void tiled_pairs(const std::uint32_t* __restrict__ x,
                                                        std::uint32_t* __restrict__ y,
                                                        std::int64_t rows, std::int64_t columns) {
  constexpr int kSide = 2 * kTile;
  __shared__ std::uint32_t tile[kSide][kTile + kPad];  // row, pair of columns
  const auto lane = static_cast<int>(threadIdx.x);
  const auto warp = static_cast<int>(threadIdx.y);
  const std::int64_t row0 = std::int64_t{blockIdx.y} * kSide;
  const std::int64_t pair0 = std::int64_t{blockIdx.x} * kTile;
  const std::int64_t pairs = columns / 2;
#pragma unroll
  for (int i = warp; i < kSide; i += kWarps) {
    if (row0 + i < rows && pair0 + lane < pairs) {
      tile[i][lane] = x[(row0 + i) * pairs + pair0 + lane];
    }
  }
  __syncthreads();
  // Lane l takes rows 2l and 2l + 1 of a pair of columns: two pairs of y, one in each of two rows.
#pragma unroll
  for (int i = warp; i < kTile; i += kWarps) {
    if (pair0 + i < pairs && row0 + 2 * lane < rows) {
      const std::uint32_t upper = tile[2 * lane][i];
      const std::uint32_t lower = tile[2 * lane + 1][i];
      const std::int64_t to = 2 * (pair0 + i) * (rows / 2) + row0 / 2 + lane;
      y[to] = __byte_perm(upper, lower, 0x5410);
      y[to + rows / 2] = __byte_perm(upper, lower, 0x7632);
    }
  }
}

template <class T>
__global__ void reference_kernel(const T* x, double* y, std::int64_t rows, std::int64_t columns) {
  const std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < rows * columns) y[i % columns * rows + i / columns] = static_cast<double>(widen(x[i]));
}

enum class Way { naive, tiled, padded };

template <class T>
const void* function_for(Way way) {
  switch (way) {
    case Way::naive:
      return reinterpret_cast<const void*>(&naive_kernel<T>);
    case Way::tiled:
      return reinterpret_cast<const void*>(&tiled_kernel<T, 0>);
    default:
      return reinterpret_cast<const void*>(&tiled_kernel<T, 1>);
  }
}

const void* function_of_elements(Way way, DType dtype) {
  if (size_bytes(dtype) == 2) return function_for<std::uint16_t>(way);
  if (size_bytes(dtype) == 4) return function_for<std::uint32_t>(way);
  return function_for<std::uint64_t>(way);
}

const void* function_of_pairs(Way way) {
  return way == Way::tiled ? reinterpret_cast<const void*>(&tiled_pairs<0>)
                           : reinterpret_cast<const void*>(&tiled_pairs<1>);
}

Launch launch_of(Way way, const Problem& p, bool aligned) {
  const bool pairs = way != Way::naive && size_bytes(p.dtype) == 2 && aligned &&
                     p[kRows] % 2 == 0 && p[kColumns] % 2 == 0;
  const std::int64_t side = pairs ? 2 * kTile : kTile;
  const dim3 grid(static_cast<unsigned>((p[kColumns] + side - 1) / side),
                  static_cast<unsigned>((p[kRows] + side - 1) / side));
  return {pairs ? function_of_pairs(way) : function_of_elements(way, p.dtype), grid,
          dim3(kLanes, kWarps), 0};
}

template <Way kWay>
KernelEntry entry(std::string_view name) {
  static constexpr std::array kConfigurations = {Problem{}};
  return {
      .name = name,
      .configurations = kConfigurations,
      .unsupported = [](const Problem& p) -> std::string {
        const bool moves = p.dtype == DType::fp64 || p.dtype == DType::fp32 ||
                           p.dtype == DType::fp16 || p.dtype == DType::bf16;
        if (!moves) return "transpose moves fp64, fp32, fp16 and bf16";
        constexpr std::int64_t kMostRows = std::int64_t{65535} * kTile;
        if (p[kRows] > kMostRows) return "at most 2097120 rows";
        return {};
      },
      .tensors =
          [](const Problem& p) {
            const Tensor matrix{p.dtype, static_cast<std::size_t>(p[kRows] * p[kColumns])};
            return Tensors{{matrix}, {matrix}};
          },
      .launches = [](const Problem& p) { return std::vector{launch_of(kWay, p, true)}; },
      .run =
          [](const Problem& p, const Addresses& at, cudaStream_t stream) {
            const void* x = at.inputs[0];
            void* y = at.outputs[0];
            std::int64_t rows = p[kRows];
            std::int64_t columns = p[kColumns];
            const bool aligned = reinterpret_cast<std::uintptr_t>(x) % 4 == 0 &&
                                 reinterpret_cast<std::uintptr_t>(y) % 4 == 0;
            const Launch launch = launch_of(kWay, p, aligned);
            std::array<void*, 4> arguments = {&x, &y, &rows, &columns};
            check(cudaLaunchKernel(launch.function, launch.grid, launch.block, arguments.data(), 0,
                                   stream));
          },
      .reference =
          [](const Problem& p, std::span<const void* const> inputs,
             std::span<double* const> outputs, cudaStream_t stream) {
            const std::int64_t elements = p[kRows] * p[kColumns];
            visit_element(p.dtype, [&]<class T>(std::type_identity<T>) {
              reference_kernel<<<static_cast<unsigned>((elements + 255) / 256), 256, 0, stream>>>(
                  static_cast<const T*>(inputs[0]), outputs[0], p[kRows], p[kColumns]);
            });
            check(cudaGetLastError());
          },
      .tolerance = [](const Problem&) { return 0.0; },
  };
}

}  // namespace

std::span<const KernelEntry> entries() {
  static const std::array table = {entry<Way::naive>("transpose.naive"),
                                   entry<Way::tiled>("transpose.tiled"),
                                   entry<Way::padded>("transpose.padded")};
  return table;
}

}  // namespace roofcast::cuda::transpose
