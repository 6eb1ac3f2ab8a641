// Rung 7: the tensor cores of Ampere (compute capability 8.0), fed by the warps themselves.
//
// One mma.sync makes 16×8 sums from 32 bytes of k: 2048 multiply-adds of 2-byte elements in one
// instruction, where rung 6 needs 64. Latencies that rung 6 hid behind arithmetic are now exposed,
// so:
//
// 1. cp.async keeps kStages - 1 tiles in flight from L2 to shared memory, past L1 and the
//    registers. The copies of a tile spread over the steps of another.
// 2. ldmatrix reads 16×32 bytes of a tile in the order that mma.sync wants: one instruction for
//    four registers. Lines of 64 or 128 bytes are swizzled (layout.cuh), so the eight lines of one
//    read lie in different banks, and so do the chunks that cp.async writes.
// 3. A warp owns 64×64 sums: in a step it reads (64 + 64)·32 bytes for 32 instructions, 1 byte for
//    16 multiply-adds. Shared memory gives 128 bytes a clock, enough for 2048 multiply-adds: the
//    rate of the tensor cores of an H100, twice that of an A100. Shared memory bounds smaller warp
//    tiles.
// 4. Registers for the next step are read before this step multiplies, across the barrier too: one
//    barrier a tile, as in rung 6.
// 5. The sums go through shared memory to C, 16 bytes an access. Stored straight from registers,
//    they would fill half sectors.
//
// On Hopper (compute capability 9.0) the tensor cores take an mma.sync every 6 clocks a scheduler:
// 2/3 of the rate of wgmma, in 16 bits. The kernel above reaches 0.48 of that rate there, and 0.60
// without its copies: each cp.async takes 18 instructions with its address and the edge test, which
// are issued among the mma.sync. So (mma_stay.cuh):
//
// 6. TMA copies a stage by one instruction an operand (B stored by rows of k: one for each 128
//    bytes of columns), without a test for each 16 bytes; rows and columns beyond the edges are not
//    copied. A warp issues 122 instructions besides the 128 mma.sync of a tile of k, 282 with
//    cp.async (128×256 sums, bf16). Warps take turns to start a copy.
// 7. A warp waits for the bytes of a stage (mbarrier), no longer for the other warps.
// 8. Blocks are persistent. The first stages of a tile are in flight while the previous tile is
//    stored, each warp's sums through its own 16 rows of shared memory.
//
// Bytes from L2: k·(tile_m + tile_n)·size for each tile of C; zeros beyond the edges are filled in,
// not read. Bytes of C: once.
//
// cp.async and TMA take rows and addresses that are multiples of 16 bytes. Other operands are
// copied first, and so are A stored by rows of k, and B in tf32 and int8, which ldmatrix cannot
// transpose (operands.hpp). tf32: the tensor cores drop the low 13 bits of fp32 without rounding.
// int8: sums are int32 and exact; C is fp32, as the scaling after it needs.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <algorithm>

#include "kernels/common/error.hpp"
#include "kernels/gemm/mma_stay.cuh"
#include "kernels/gemm/operands.hpp"
#include "kernels/gemm/tensor_map.hpp"
#include "model/kernels/compiled.hpp"

namespace roofcast::cuda::gemm {
namespace {

using roofcast::gemm::tensor::kMmaAlongKTiles;
using roofcast::gemm::tensor::kMmaInt8Tiles;
using roofcast::gemm::tensor::kMmaTiles;
using roofcast::gemm::tensor::mma_sync_along_k;
using roofcast::gemm::tensor::MmaTile;
using roofcast::gemm::tensor::overflowing_sums;

struct CompiledTile {
  Problem configuration;
  Launch (*launch)(const Shape&);
  void (*run)(const Shape&, const Operands&, void* c, cudaStream_t);
};

/// Persistent blocks where it is compiled for sm_90, else a block for each tile.
template <class T>
__global__ void __launch_bounds__(T::kThreads, T::kMinBlocks)
    mma_kernel(const __grid_constant__ Shape shape, const typename T::Element* __restrict__ a,
               const typename T::Element* __restrict__ b, typename T::Result* __restrict__ c,
               const __grid_constant__ Boxes boxes) {
  extern __shared__ __align__(1024) unsigned char dynamic[];
#if __CUDA_ARCH__ == 900
  stay<T>(shape, boxes, c, dynamic);
#else
  multiply_tile<T>(shape, a, b, c, dynamic);
#endif
}

/// Resident blocks on an H100 SXM, so that a launch can be described without a device.
template <class T, DType kType>
int blocks_of_h100() {
  const auto registers = static_cast<int>(roofcast::compiled::registers(
      "gemm::mma_kernel", kType, T::kRows, T::kColumns, T::kDepth, T::kWarpsDown, T::kWarpsAcross,
      T::kStages, T::kMinBlocks, T::kTransposedB));
  constexpr int kSms = 132, kRegisters = 65536, kUnit = 8, kSharedBytes = 228 * 1024,
                kReserved = 1024;
  const int by_registers = kRegisters / ((registers + kUnit - 1) / kUnit * kUnit * T::kThreads);
  const int by_shared = kSharedBytes / (StayShared<T>::kBytes + kReserved);
  return kSms * std::min(by_registers, by_shared);
}

/// Resident blocks of the persistent kernel on the device; 0 where it is not persistent. Queried
/// once, for the first device.
template <class T, DType kType>
int staying_blocks() {
  static const int blocks = [] {
    constexpr int kHopper = 90;
    if (!has_device()) return blocks_of_h100<T, kType>();
    const auto kernel = mma_kernel<T>;
    cudaFuncAttributes attributes{};
    check(cudaFuncGetAttributes(&attributes, kernel));
    if (attributes.binaryVersion != kHopper) return 0;
    constexpr int kBytes = StayShared<T>::kBytes;
    check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kBytes));
    int device = 0, sms = 0, of_sm = 0;
    check(cudaGetDevice(&device));
    check(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device));
    check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&of_sm, kernel, T::kThreads, kBytes));
    return sms * std::max(of_sm, 1);
  }();
  return blocks;
}

template <class T, DType kType>
Launch launch_of(const Shape& shape) {
  const std::int64_t tiles = ceil_div(shape.m, T::kRows) * ceil_div(shape.n, T::kColumns);
  const auto function = reinterpret_cast<const void*>(mma_kernel<T>);
  const std::int64_t staying = staying_blocks<T, kType>();
  if (staying > 0) {
    return {function, dim3(static_cast<unsigned>(std::min(tiles * shape.matrices, staying))),
            dim3(T::kThreads), StayShared<T>::kBytes};
  }
  return {function, dim3(static_cast<unsigned>(tiles), static_cast<unsigned>(shape.matrices)),
          dim3(T::kThreads), T::kSharedBytes};
}

template <class T>
Boxes boxes_of(const Shape& shape, const Operands& from) {
  const auto map_of = [&](const Operands::Rows& matrix, int rows, int columns, int box_rows,
                          int box_bytes) {
    return tensor_map({map_type<typename T::Element>(), T::kSize, matrix.data, matrix.row, rows,
                       columns, box_rows, shape.matrices, matrix.stride},
                      box_bytes);
  };
  const auto edged = [&](const Operands::Rows& matrix, int rows, int box_rows, int box_bytes) {
    return edged_map(rows, box_rows,
                     [&](int lines) { return map_of(matrix, rows, shape.k, lines, box_bytes); });
  };
  constexpr int kTilesAtOnce = static_cast<int>(roofcast::gemm::tensor::kMmaGroupRows);
  const int tiles = static_cast<int>(shape.matrices * ceil_div(shape.m, T::kRows) *
                                     ceil_div(shape.n, T::kColumns));
  EdgedMap b{};
  if constexpr (T::kTransposedB) {
    b = edged(from.b(), shape.n, T::kColumns, T::TileB::kBytes);
  } else {
    b.whole = b.edge = map_of(from.b(), shape.k, shape.n, T::kDepth, T::TileB::kBytes);
  }
  return {edged(from.a(), shape.m, T::kRows, T::TileA::kBytes), b,
          Schedule::of(shape.m, shape.n, shape.k, T::kRows, T::kColumns, T::kDepth, 1,
                       {kTilesAtOnce}, {tiles, 1, false}, shape.matrices)};
}

template <class T, DType kType>
void run_tile(const Shape& shape, const Operands& from, void* c, cudaStream_t stream) {
  using Element = typename T::Element;
  const auto kernel = mma_kernel<T>;
  const Launch launch = launch_of<T, kType>(shape);
  const Boxes boxes = staying_blocks<T, kType>() > 0 ? boxes_of<T>(shape, from) : Boxes{};
  check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                             static_cast<int>(launch.shared_bytes)));
  kernel<<<launch.grid, launch.block, launch.shared_bytes, stream>>>(
      shape, static_cast<const Element*>(from.a().data), static_cast<const Element*>(from.b().data),
      static_cast<typename T::Result*>(c), boxes);
  check(cudaGetLastError());
}

template <class Element, DType kType, bool kTransposedB, const auto& kTable, std::size_t kRow>
constexpr CompiledTile compiled() {
  constexpr MmaTile tile = kTable[kRow];
  using T = Tile<Element, static_cast<int>(tile.m), static_cast<int>(tile.n),
                 static_cast<int>(tile.k_bytes / static_cast<int>(sizeof(Element))),
                 tile.warps_down, tile.warps_across, tile.stages, tile.blocks, kTransposedB>;
  static_assert(T::kSharedBytes == tile.shared_bytes() && T::kThreads == tile.threads());
  static_assert(StayShared<T>::kBytes == tile.persistent_shared_bytes(T::kResultSize));
  return {tensor_configuration(kType, tile.m, tile.n, T::kDepth, kTransposedB), launch_of<T, kType>,
          run_tile<T, kType>};
}

/// The tiles of one of the model's tables, compiled for a type and a layout of B.
template <class Element, DType kType, bool kTransposedB, const auto& kTable>
constexpr auto compiled_table() {
  return compiled_rows<kTable>([](auto row) {
    return compiled<Element, kType, kTransposedB, kTable, decltype(row)::value>();
  });
}

constexpr auto kCompiled = joined(compiled_table<__nv_bfloat16, DType::bf16, false, kMmaTiles>(),
                                  compiled_table<__nv_bfloat16, DType::bf16, true, kMmaTiles>(),
                                  compiled_table<__half, DType::fp16, false, kMmaTiles>(),
                                  compiled_table<__half, DType::fp16, true, kMmaTiles>(),
                                  compiled_table<float, DType::tf32, true, kMmaAlongKTiles>(),
                                  compiled_table<std::int8_t, DType::int8, true, kMmaInt8Tiles>());
constexpr auto kConfigurations = configurations_of(kCompiled);

const CompiledTile* find_compiled(const Problem& p) {
  return find_tile(kCompiled, with_layout(p, mma_sync_along_k(p.dtype)));
}

std::string unsupported(const Problem& p) {
  if (std::string why = unsupported_sizes(p); !why.empty()) return why;
  if (std::string why = overflowing_sums(p); !why.empty()) return why;
  const CompiledTile* tile = find_compiled(p);
  if (tile == nullptr) return not_compiled("gemm.mma_sync", p, kConfigurations);
  // So that the index of a block's next tile does not overflow.
  if (p[kBatch] * ceil_div(p[kM], p[kTileM]) * ceil_div(p[kN], p[kTileN]) > std::int64_t{1} << 30) {
    return "too many tiles: choose larger tiles";
  }
  return fits_device(tile->launch(shape_of(p)));
}

Tensors with_scratch(const Problem& p) {
  Tensors all = tensor_tensors(p);
  add_operand_scratch(all, p, mma_sync_along_k(p.dtype));
  return all;
}

std::vector<Launch> launches(const Problem& p) {
  std::vector<Launch> all = operand_launches(p, mma_sync_along_k(p.dtype));
  all.push_back(find_compiled(p)->launch(shape_of(p)));
  return all;
}

void run(const Problem& p, const Addresses& at, cudaStream_t stream) {
  const Operands operands(p, mma_sync_along_k(p.dtype), at, stream);
  find_compiled(p)->run(operands.shape(p), operands, at.outputs[0], stream);
}

}  // namespace

KernelEntry mma_sync() {
  return tensor_entry("gemm.mma_sync", kConfigurations, unsupported, with_scratch, launches, run);
}

}  // namespace roofcast::cuda::gemm
