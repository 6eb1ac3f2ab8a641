// Rung 7: the tensor cores of Ampere (compute capability 8.0), fed by the warps themselves.
//
// One mma.sync makes 16×8 sums from 32 bytes of k: 2048 multiply-adds of 2-byte elements in one
// instruction, where rung 6 needs 64. What rung 6 hid behind arithmetic is now in sight, so:
//
// 1. cp.async keeps kStages - 1 tiles on their way from L2 to shared memory, past L1 and the
//    registers. The copies of a tile spread over the steps of another.
// 2. ldmatrix reads 16×32 bytes of a tile in the order that mma.sync wants: one instruction for four
//    registers. Lines of 64 or 128 bytes are swizzled (layout.cuh), so the eight lines that it reads
//    at once lie in different banks, and so do the chunks that cp.async writes.
// 3. A warp owns 64×64 sums: in a step it reads (64 + 64)·32 bytes for 32 instructions, 1 byte for
//    16 multiply-adds. Shared memory gives 128 bytes a clock, so 2048 a clock: as many as the
//    tensor cores of an H100 make, twice those of an A100. Smaller warp tiles are bound by it.
// 4. Registers for the next step are read before this step multiplies, across the barrier too: one
//    barrier a tile, as in rung 6.
// 5. The sums go through shared memory to C, 16 bytes an access: straight from the registers a warp
//    would write half sectors.
//
// Bytes from L2: k·(tile_m + tile_n)·size for each tile of C; zeros are filled in, not read, beyond
// the edges. Bytes of C: once.
//
// cp.async takes rows and addresses that are multiples of 16 bytes. Others are copied first, and so
// is tf32 B stored by rows of k, which ldmatrix cannot transpose (operands.hpp).
// tf32: the tensor cores drop the low 13 bits of fp32, nothing rounds them before.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <array>

#include "kernels/common/error.hpp"
#include "kernels/gemm/line_copy.cuh"
#include "kernels/gemm/mma.cuh"
#include "kernels/gemm/operands.hpp"
#include "kernels/gemm/tensor.hpp"

namespace roofcast::cuda::gemm {
namespace {

using roofcast::gemm::tensor::kMmaAlongKTiles;
using roofcast::gemm::tensor::kMmaGroupRows;
using roofcast::gemm::tensor::kMmaTiles;
using roofcast::gemm::tensor::MmaTile;

template <class Element_, int kRows_, int kColumns_, int kDepth_, int kWarpsDown_,
          int kWarpsAcross_, int kStages_, int kMinBlocks_, bool kTransposedB_>
struct Tile {
  using Element = Element_;
  static constexpr int kRows = kRows_, kColumns = kColumns_, kDepth = kDepth_;
  static constexpr int kWarpsDown = kWarpsDown_, kWarpsAcross = kWarpsAcross_;
  static constexpr int kStages = kStages_, kMinBlocks = kMinBlocks_;
  static constexpr bool kTransposedB = kTransposedB_;
  static constexpr int kSize = static_cast<int>(sizeof(Element));
  static constexpr int kThreads = 32 * kWarpsDown * kWarpsAcross;
  static constexpr int kSteps = kDepth * kSize / kStepBytes;
  static constexpr int kSlices = kSteps - 1;  // the last step waits for the copies
  static constexpr int kWarpRows = kRows / kWarpsDown, kWarpColumns = kColumns / kWarpsAcross;
  static constexpr int kDown = kWarpRows / 16, kAcross = kWarpColumns / 8;  // instructions a step
  static constexpr Lines kLinesB = kTransposedB ? Lines::along_k : Lines::across_k;
  using TileA = LineTile<Lines::along_k, kRows, kDepth * kSize>;
  using TileB = std::conditional_t<
      kTransposedB, LineTile<Lines::along_k, kColumns, kDepth * kSize>,
      LineTile<kLinesB, kColumns * kSize / kPanelBytes * kDepth, kPanelBytes, kDepth>>;
  static constexpr int kStageBytes = TileA::kTileBytes + TileB::kTileBytes;
  static constexpr int kSharedBytes = kStages * kStageBytes;
  static_assert(kWarpRows % 16 == 0 && kWarpColumns % 16 == 0 && kSteps % 2 == 0 && kStages >= 3);
  static_assert(kColumns * kSize % kPanelBytes == 0);
  static_assert(TileA::kTileBytes % 1024 == 0 && TileB::kTileBytes % 1024 == 0);  // of the swizzle
  static_assert(kRows * kColumns * kSize <= kSharedBytes);  // C is staged there
};

/// The operands of one step of a warp, and how to read them from a stage of shared memory.
template <class T>
struct Fragments {
  unsigned a[T::kDown][4], b[T::kAcross][2];

  /// `row` and `column` are where the warp's sums begin in the tile.
  __device__ void read(unsigned stage, int step, int row, int column, int lane) {
    using A = typename T::TileA;
    using B = typename T::TileB;
    const unsigned from_a = stage + static_cast<unsigned>(a_offset<A>(row, step, lane));
#pragma unroll
    for (int d = 0; d < T::kDown; ++d) read_matrices(a[d], from_a + d * 16 * A::kBytes);
    const unsigned tile_b = stage + A::kTileBytes;
#pragma unroll
    for (int q = 0; q < T::kAcross; q += 2) {
      const unsigned from = tile_b + static_cast<unsigned>(b_offset<B>(column, q, step, lane));
      unsigned four[4];
      if constexpr (T::kLinesB == Lines::across_k) {
        read_matrices_transposed(four, from);
      } else {
        read_matrices(four, from);
      }
      b[q][0] = four[0], b[q][1] = four[1], b[q + 1][0] = four[2], b[q + 1][1] = four[3];
    }
  }
};

template <class Element>
__device__ void store_pair(unsigned address, float x, float y) {
  if constexpr (sizeof(Element) == 4) {
    asm volatile("st.shared.v2.f32 [%0], {%1, %2};" ::"r"(address), "f"(x), "f"(y) : "memory");
  } else {
    asm volatile("st.shared.u32 [%0], %1;" ::"r"(address), "r"(pair_of<Element>(x, y)) : "memory");
  }
}

/// Where chunk `chunk` of row `row` of C is staged: rows turn as those of 128 bytes do.
template <class T>
__device__ constexpr int staged(int row, int chunk) {
  return row * T::kColumns * T::kSize + (chunk ^ (row & 7)) * kChunkBytes;
}

template <class T>
__device__ void store_sums(unsigned shared, const float (&sum)[T::kDown][T::kAcross][4], int row,
                           int column, int lane) {
#pragma unroll
  for (int d = 0; d < T::kDown; ++d) {
#pragma unroll
    for (int q = 0; q < T::kAcross; ++q) {
#pragma unroll
      for (int i = 0; i < 4; i += 2) {
        const Place place = sum_place(lane, i);
        const int byte = (column + q * 8 + place.column) * T::kSize;
        const int to = staged<T>(row + d * 16 + place.row, byte / kChunkBytes) + byte % kChunkBytes;
        store_pair<typename T::Element>(shared + static_cast<unsigned>(to), sum[d][q][i],
                                        sum[d][q][i + 1]);
      }
    }
  }
}

/// From shared memory to C: rows of `shape.m` and columns of `shape.n` only.
template <class T>
__device__ void store_tile(const unsigned char* shared, typename T::Element* c, const Shape& shape,
                           int row0, int column0, int thread) {
  using Element = typename T::Element;
  constexpr int kWidth = kChunkBytes / T::kSize, kAcross = T::kColumns / kWidth;
  const bool aligned = (reinterpret_cast<std::uintptr_t>(c) | (shape.row_c * T::kSize)) % 16 == 0;
#pragma unroll 4
  for (int i = thread; i < T::kRows * kAcross; i += T::kThreads) {
    const int r = i / kAcross, chunk = i % kAcross;
    const int row = row0 + r, column = column0 + chunk * kWidth;
    if (row >= shape.m || column >= shape.n) continue;
    const uint4 four = *reinterpret_cast<const uint4*>(shared + staged<T>(r, chunk));
    Element* const to = c + row * shape.row_c + column;
    if (aligned && column + kWidth <= shape.n) {
      *reinterpret_cast<uint4*>(to) = four;
    } else {
      Element element[kWidth];
      __builtin_memcpy(element, &four, sizeof(four));
#pragma unroll
      for (int e = 0; e < kWidth; ++e) {
        if (column + e < shape.n) to[e] = element[e];
      }
    }
  }
}

template <class T>
__global__ void __launch_bounds__(T::kThreads, T::kMinBlocks)
    mma_sync_kernel(Shape shape, const typename T::Element* __restrict__ a,
                    const typename T::Element* __restrict__ b,
                    typename T::Element* __restrict__ c) {
  using Element = typename T::Element;
  extern __shared__ __align__(1024) unsigned char dynamic[];
  const auto shared = static_cast<unsigned>(__cvta_generic_to_shared(dynamic));
  const auto thread = static_cast<int>(threadIdx.x);
  const int lane = thread % 32, warp = thread / 32;
  const int row = warp / T::kWarpsAcross * T::kWarpRows;
  const int column = warp % T::kWarpsAcross * T::kWarpColumns;
  const Place tile = grouped_tile(static_cast<int>(blockIdx.x), (shape.m + T::kRows - 1) / T::kRows,
                                  (shape.n + T::kColumns - 1) / T::kColumns, kMmaGroupRows);
  const int row0 = tile.row * T::kRows, column0 = tile.column * T::kColumns;
  const int tiles = (shape.k + T::kDepth - 1) / T::kDepth;

  LineCopy<Element, typename T::TileA, T::kThreads, T::kSlices> copy_a(a, shape.row_a, shape.m,
                                                                       shape.k, row0, 0, thread);
  LineCopy<Element, typename T::TileB, T::kThreads, T::kSlices> copy_b(
      b, shape.row_b, T::kTransposedB ? shape.n : shape.k, T::kTransposedB ? shape.k : shape.n,
      T::kTransposedB ? column0 : 0, T::kTransposedB ? 0 : column0, thread);
  const auto stage_of = [&](int t) {
    return shared + static_cast<unsigned>(t % T::kStages * T::kStageBytes);
  };
  const auto start = [&](int slice, int t) {
    if (t >= tiles) return;
    copy_a.start(slice, stage_of(t), t * T::kDepth);
    copy_b.start(slice, stage_of(t) + T::TileA::kTileBytes, t * T::kDepth);
  };
  for (int t = 0; t < T::kStages - 1; ++t) {
#pragma unroll
    for (int slice = 0; slice < T::kSlices; ++slice) start(slice, t);
    commit_copies();  // also when empty: the count of groups is the count of tiles
  }
  wait_for_copies<T::kStages - 2>();  // tile 0
  __syncthreads();
  float sum[T::kDown][T::kAcross][4] = {};
  Fragments<T> operands[2];  // this step's and the next one's
  operands[0].read(stage_of(0), 0, row, column, lane);
#pragma unroll 1
  for (int t = 0; t < tiles; ++t) {
    const int ahead = t + T::kStages - 1;  // its stage is that of tile t - 1, which all have read
#pragma unroll
    for (int step = 0; step < T::kSteps; ++step) {
      if (step == T::kSteps - 1) {
        wait_for_copies<T::kStages - 2>();  // of kStages + t groups, all but those: tile t + 1
        __syncthreads();                    // tile t + 1 is complete, and all of tile t is read
      }
      operands[(step + 1) % 2].read(stage_of(step == T::kSteps - 1 ? t + 1 : t),
                                    (step + 1) % T::kSteps, row, column, lane);
      if (step < T::kSlices) start(step, ahead);
      if (step == T::kSlices - 1) commit_copies();
#pragma unroll
      for (int d = 0; d < T::kDown; ++d) {
#pragma unroll
        for (int q = 0; q < T::kAcross; ++q) {
          const int p = d % 2 == 0 ? q : T::kAcross - 1 - q;  // there and back: b stays the same
          multiply_accumulate<Element>(sum[d][p], operands[step % 2].a[d],
                                       operands[step % 2].b[p][0], operands[step % 2].b[p][1]);
        }
      }
    }
  }

  wait_for_copies<0>();
  __syncthreads();  // no copy comes and no operand is read: shared memory is free
  store_sums<T>(shared, sum, row, column, lane);
  __syncthreads();
  store_tile<T>(dynamic, c, shape, row0, column0, thread);
}

struct CompiledTile {
  Problem configuration;
  Launch (*launch)(const Shape&);
  void (*run)(const Shape&, const void* a, const void* b, void* c, cudaStream_t);
};

template <class T>
Launch launch_of(const Shape& shape) {
  const std::int64_t blocks = ceil_div(shape.m, T::kRows) * ceil_div(shape.n, T::kColumns);
  return {reinterpret_cast<const void*>(mma_sync_kernel<T>), dim3(static_cast<unsigned>(blocks)),
          dim3(T::kThreads), T::kSharedBytes};
}

template <class T>
void run_tile(const Shape& shape, const void* a, const void* b, void* c, cudaStream_t stream) {
  using Element = typename T::Element;
  const auto kernel = mma_sync_kernel<T>;
  const Launch launch = launch_of<T>(shape);
  check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, T::kSharedBytes));
  kernel<<<launch.grid, launch.block, launch.shared_bytes, stream>>>(
      shape, static_cast<const Element*>(a), static_cast<const Element*>(b),
      static_cast<Element*>(c));
  check(cudaGetLastError());
}

template <class Element, DType kType, bool kTransposedB, const auto& kTable, std::size_t kRow>
constexpr CompiledTile compiled() {
  constexpr MmaTile tile = kTable[kRow];
  using T = Tile<Element, static_cast<int>(tile.m), static_cast<int>(tile.n),
                 static_cast<int>(tile.k_bytes / static_cast<int>(sizeof(Element))),
                 tile.warps_down, tile.warps_across, tile.stages, tile.blocks, kTransposedB>;
  static_assert(T::kSharedBytes == tile.shared_bytes() && T::kThreads == tile.threads());
  return {tensor_configuration(kType, tile.m, tile.n, T::kDepth, kTransposedB), launch_of<T>,
          run_tile<T>};
}

/// A table of the model's, compiled for a type and a layout of B.
template <class Element, DType kType, bool kTransposedB, const auto& kTable>
constexpr auto compiled_table() {
  return []<std::size_t... kRows>(std::index_sequence<kRows...>) {
    return std::array{compiled<Element, kType, kTransposedB, kTable, kRows>()...};
  }
  (std::make_index_sequence<std::size(kTable)>());
}

constexpr auto kCompiled = joined(compiled_table<__nv_bfloat16, DType::bf16, false, kMmaTiles>(),
                                  compiled_table<__nv_bfloat16, DType::bf16, true, kMmaTiles>(),
                                  compiled_table<__half, DType::fp16, false, kMmaTiles>(),
                                  compiled_table<__half, DType::fp16, true, kMmaTiles>(),
                                  compiled_table<float, DType::tf32, true, kMmaAlongKTiles>());
constexpr auto kConfigurations = configurations_of(kCompiled);

/// B of tf32 holds k along its lines.
bool b_along_k(const Problem& p) {
  return p.dtype == DType::tf32;
}
const CompiledTile* find_compiled(const Problem& p) {
  return find_tile(kCompiled, with_layout(p, b_along_k(p)));
}

std::string unsupported(const Problem& p) {
  if (std::string why = unsupported_sizes(p); !why.empty()) return why;
  const CompiledTile* tile = find_compiled(p);
  if (tile == nullptr) return not_compiled("gemm.mma_sync", p, kConfigurations);
  return fits_device(tile->launch(shape_of(p)));
}

Tensors with_scratch(const Problem& p) {
  Tensors all = tensor_tensors(p);
  add_operand_scratch(all, p, b_along_k(p));
  return all;
}

std::vector<Launch> launches(const Problem& p) {
  std::vector<Launch> all = operand_launches(p, b_along_k(p));
  all.push_back(find_compiled(p)->launch(shape_of(p)));
  return all;
}

void run(const Problem& p, const Addresses& at, cudaStream_t stream) {
  const Operands operands(p, b_along_k(p), at, stream);
  Shape shape = shape_of(p);
  shape.row_a = operands.row_a(), shape.row_b = operands.row_b();
  find_compiled(p)->run(shape, operands.a(), operands.b(), at.outputs[0], stream);
}

}  // namespace

KernelEntry mma_sync() {
  return {.name = "gemm.mma_sync",
          .configurations = kConfigurations,
          .unsupported = unsupported,
          .tensors = with_scratch,
          .launches = launches,
          .run = run,
          .reference = tensor_reference,
          .tolerance = tensor_tolerance};
}

}  // namespace roofcast::cuda::gemm
