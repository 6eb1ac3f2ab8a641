// y[c][r] = x[r][c]: rows·columns elements in, as many out, and no arithmetic. Either the loads or
// the stores have to cross rows.
//
//   naive    Loads run along the rows of x, stores down the columns of y. Each lane's store lies in
//            another row of y, so a warp's 32 elements touch 32 sectors of 32 B.
//   tiled    A tile goes through shared memory, so that loads and stores both run along rows, in
//            pieces of 256 B. Accesses have 16 bytes, which are k elements: a thread loads a patch
//            of k × k from k rows, transposes it in registers, and stores it in k rows of the tile.
//            The 16 lanes with a row of patches store 256 B apart, into the same four banks.
//   padded   Rows of the tile are one access of 16 bytes longer, so they begin in different banks.
//   swizzled Column c of row r lies at c xor r: a column meets each bank as often as any other, as
//            with the padding, and the tile takes no more shared memory than its elements.
//
// The grid of the kernels with patches runs down the rows of x first, so that blocks that run
// together write long runs of y. For 1 GiB in and out an H200 takes 521 µs, with a grid along the
// rows of x 539, and for a copy 505. (DRAM loses less by reading than by writing in pieces.)
//
// Where an extent is no multiple of k or an address no multiple of 16 bytes, tiles of 32 × 32 go
// element by element, as in naive, on a grid along the rows of x.

#include <array>
#include <cstdint>

#include "kernels/common/element.cuh"
#include "kernels/common/error.hpp"
#include "kernels/families.hpp"
#include "model/kernels/transpose/transpose.hpp"

namespace roofcast::cuda::transpose {
namespace {

using roofcast::transpose::kColumns;
using roofcast::transpose::kRows;
using roofcast::transpose::Way;
constexpr auto kLanes = static_cast<int>(roofcast::transpose::kLanes);
constexpr auto kWarps = static_cast<int>(roofcast::transpose::kWarps);
constexpr int kThreads = kLanes * kWarps;

/// Side, in elements, of the tiles that go element by element.
constexpr int kTile = 32;
/// Patches along a side of the other tiles: 16 accesses of 16 bytes are 256 B.
constexpr auto kPatches = static_cast<int>(roofcast::transpose::kPatches);

template <class T>
__global__ void __launch_bounds__(kThreads) naive_kernel(const T* __restrict__ x, T* __restrict__ y,
                                                         std::int64_t rows, std::int64_t columns) {
  const std::int64_t column = std::int64_t{blockIdx.x} * kTile + threadIdx.x;
  const std::int64_t first = std::int64_t{blockIdx.y} * kTile + threadIdx.y;
#pragma unroll
  for (int i = 0; i < kTile; i += kWarps) {
    const std::int64_t row = first + i;
    if (row < rows && column < columns) y[column * rows + row] = x[row * columns + column];
  }
}

template <Way kWay>
constexpr int kPad = kWay == Way::padded ? 1 : 0;

/// Where column `column` lies within row `row` of the tile, in elements or patches.
template <Way kWay>
__device__ int place(int row, int column) {
  return kWay == Way::swizzled ? column ^ row : column;
}

template <class T, Way kWay>
__global__ void __launch_bounds__(kThreads) tiled_kernel(const T* __restrict__ x, T* __restrict__ y,
                                                         std::int64_t rows, std::int64_t columns) {
  __shared__ T tile[kTile][kTile + kPad<kWay>];
  const auto lane = static_cast<int>(threadIdx.x);
  const auto warp = static_cast<int>(threadIdx.y);
  const std::int64_t row0 = std::int64_t{blockIdx.y} * kTile;
  const std::int64_t column0 = std::int64_t{blockIdx.x} * kTile;
#pragma unroll
  for (int i = warp; i < kTile; i += kWarps) {
    if (row0 + i < rows && column0 + lane < columns) {
      tile[i][place<kWay>(i, lane)] = x[(row0 + i) * columns + column0 + lane];
    }
  }
  __syncthreads();
#pragma unroll
  for (int i = warp; i < kTile; i += kWarps) {
    if (column0 + i < columns && row0 + lane < rows) {
      y[(column0 + i) * rows + row0 + lane] = tile[lane][place<kWay>(lane, i)];
    }
  }
}

/// Elements of kBytes (2, 4 or 8) in an access of 16 bytes.
template <int kBytes>
constexpr int kPatch = 16 / kBytes;

/// Transposes a patch of k rows of k elements. `in` and `out` stay in registers.
template <int kBytes>
__device__ void transpose_patch(const uint4 (&in)[kPatch<kBytes>], uint4 (&out)[kPatch<kBytes>]) {
  if constexpr (kBytes == 8) {
    out[0] = make_uint4(in[0].x, in[0].y, in[1].x, in[1].y);
    out[1] = make_uint4(in[0].z, in[0].w, in[1].z, in[1].w);
  } else if constexpr (kBytes == 4) {
    out[0] = make_uint4(in[0].x, in[1].x, in[2].x, in[3].x);
    out[1] = make_uint4(in[0].y, in[1].y, in[2].y, in[3].y);
    out[2] = make_uint4(in[0].z, in[1].z, in[2].z, in[3].z);
    out[3] = make_uint4(in[0].w, in[1].w, in[2].w, in[3].w);
  } else {
    const auto word = [&](int row, int column) {
      const uint4& quad = in[row];
      return column < 2 ? quad.x : column < 4 ? quad.y : column < 6 ? quad.z : quad.w;
    };
#pragma unroll
    for (int c = 0; c < 8; ++c) {
      const unsigned halves = c % 2 == 0 ? 0x5410 : 0x7632;  // the lower or the upper of each word
      out[c] = make_uint4(
          __byte_perm(word(0, c), word(1, c), halves), __byte_perm(word(2, c), word(3, c), halves),
          __byte_perm(word(4, c), word(5, c), halves), __byte_perm(word(6, c), word(7, c), halves));
    }
  }
}

/// 16-byte accesses, for rows and columns that are multiples of k and addresses that are multiples
/// of 16 bytes.
template <int kBytes, Way kWay>
__global__ void __launch_bounds__(kThreads)
    patch_kernel(const uint4* __restrict__ x, uint4* __restrict__ y, std::int64_t rows,
                 std::int64_t columns) {
  constexpr int k = kPatch<kBytes>;
  // tile[c mod k][c / k] is column c of x's tile; an access holds k of its rows.
  __shared__ uint4 tile[k][kPatches][kPatches + kPad<kWay>];
  const auto thread = static_cast<int>(threadIdx.x);
  const int minor = thread % kPatches;
  const int major = thread / kPatches;
  const std::int64_t row_patches = rows / k;
  const std::int64_t column_patches = columns / k;
  const std::int64_t row_patch0 = std::int64_t{blockIdx.x} * kPatches;
  const std::int64_t column_patch0 = std::int64_t{blockIdx.y} * kPatches;

  if (row_patch0 + major < row_patches && column_patch0 + minor < column_patches) {
    uint4 in[k], out[k];
#pragma unroll
    for (int j = 0; j < k; ++j) {
      in[j] = x[((row_patch0 + major) * k + j) * column_patches + column_patch0 + minor];
    }
    transpose_patch<kBytes>(in, out);
#pragma unroll
    for (int j = 0; j < k; ++j) tile[j][minor][place<kWay>(minor, major)] = out[j];
  }
  __syncthreads();
  if (column_patch0 + major < column_patches && row_patch0 + minor < row_patches) {
#pragma unroll
    for (int j = 0; j < k; ++j) {
      y[((column_patch0 + major) * k + j) * row_patches + row_patch0 + minor] =
          tile[j][major][place<kWay>(major, minor)];
    }
  }
}

template <class T>
__global__ void reference_kernel(const T* x, double* y, std::int64_t rows, std::int64_t columns) {
  const std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < rows * columns) y[i % columns * rows + i / columns] = static_cast<double>(widen(x[i]));
}

template <class T>
const void* function_for(Way way) {
  switch (way) {
    case Way::naive:
      return reinterpret_cast<const void*>(&naive_kernel<T>);
    case Way::tiled:
      return reinterpret_cast<const void*>(&tiled_kernel<T, Way::tiled>);
    case Way::padded:
      return reinterpret_cast<const void*>(&tiled_kernel<T, Way::padded>);
    default:
      return reinterpret_cast<const void*>(&tiled_kernel<T, Way::swizzled>);
  }
}

const void* function_of_elements(Way way, DType dtype) {
  if (size_bytes(dtype) == 2) return function_for<std::uint16_t>(way);
  if (size_bytes(dtype) == 4) return function_for<std::uint32_t>(way);
  return function_for<std::uint64_t>(way);
}

template <int kBytes>
const void* patches_for(Way way) {
  switch (way) {
    case Way::tiled:
      return reinterpret_cast<const void*>(&patch_kernel<kBytes, Way::tiled>);
    case Way::padded:
      return reinterpret_cast<const void*>(&patch_kernel<kBytes, Way::padded>);
    default:
      return reinterpret_cast<const void*>(&patch_kernel<kBytes, Way::swizzled>);
  }
}

const void* function_of_patches(Way way, DType dtype) {
  if (size_bytes(dtype) == 2) return patches_for<2>(way);
  if (size_bytes(dtype) == 4) return patches_for<4>(way);
  return patches_for<8>(way);
}

Launch launch_of(Way way, const Problem& p, bool aligned) {
  const auto blocks = [](std::int64_t extent, std::int64_t side) {
    return static_cast<unsigned>((extent + side - 1) / side);
  };
  const std::int64_t patch = roofcast::transpose::patch(p.dtype);
  if (way != Way::naive && aligned && roofcast::transpose::in_patches(p)) {
    const std::int64_t side = patch * kPatches;
    return {function_of_patches(way, p.dtype),
            dim3(blocks(p[kRows], side), blocks(p[kColumns], side)), dim3(kThreads), 0};
  }
  return {function_of_elements(way, p.dtype),
          dim3(blocks(p[kColumns], kTile), blocks(p[kRows], kTile)), dim3(kLanes, kWarps), 0};
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
        if (!moves) {
          return "transpose moves fp64, fp32, fp16 and bf16, not " +
                 std::string(roofcast::name(p.dtype));
        }
        constexpr std::int64_t kMost = kMostBlocksYZ * kTile;
        if (p[kRows] > kMost || p[kColumns] > kMost) {
          return "at most " + std::to_string(kMost) + " rows and columns";
        }
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
            const bool aligned = reinterpret_cast<std::uintptr_t>(x) % 16 == 0 &&
                                 reinterpret_cast<std::uintptr_t>(y) % 16 == 0;
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
      .tolerance = [](const Problem&, std::size_t) { return 0.0; },
  };
}

}  // namespace

Entries entries() {
  static const std::array table = {
      entry<Way::naive>("transpose.naive"), entry<Way::tiled>("transpose.tiled"),
      entry<Way::padded>("transpose.padded"), entry<Way::swizzled>("transpose.swizzled")};
  return table;
}

}  // namespace roofcast::cuda::transpose
