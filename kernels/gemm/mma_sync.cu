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
// is A stored by rows of k, and B in tf32 and int8, which ldmatrix cannot transpose (operands.hpp).
// tf32: the tensor cores drop the low 13 bits of fp32, nothing rounds them before. int8: sums are
// int32, exact, and C is fp32, as what scales it takes.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <limits>

#include "kernels/common/error.hpp"
#include "kernels/gemm/mma_tile.cuh"
#include "kernels/gemm/operands.hpp"
#include "kernels/gemm/tensor.hpp"

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
  void (*run)(const Shape&, const void* a, const void* b, void* c, cudaStream_t);
};

template <class T>
Launch launch_of(const Shape& shape) {
  const std::int64_t tiles = ceil_div(shape.m, T::kRows) * ceil_div(shape.n, T::kColumns);
  return {reinterpret_cast<const void*>(product_kernel<T>),
          dim3(static_cast<unsigned>(tiles), static_cast<unsigned>(shape.matrices)),
          dim3(T::kThreads), T::kSharedBytes};
}

template <class T>
void run_tile(const Shape& shape, const void* a, const void* b, void* c, cudaStream_t stream) {
  using Element = typename T::Element;
  const auto kernel = product_kernel<T>;
  const Launch launch = launch_of<T>(shape);
  check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, T::kSharedBytes));
  kernel<<<launch.grid, launch.block, launch.shared_bytes, stream>>>(
      shape, static_cast<const Element*>(a), static_cast<const Element*>(b),
      static_cast<typename T::Result*>(c));
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
  if (ceil_div(p[kM], p[kTileM]) * ceil_div(p[kN], p[kTileN]) > std::numeric_limits<int>::max()) {
    return "too many tiles for one grid: choose larger tiles";
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
  find_compiled(p)->run(operands.shape(p), operands.a().data, operands.b().data, at.outputs[0],
                        stream);
}

}  // namespace

KernelEntry mma_sync() {
  return tensor_entry("gemm.mma_sync", kConfigurations, unsupported, with_scratch, launches, run);
}

}  // namespace roofcast::cuda::gemm
