// gemm.wgmma: the tiles that wgmma_kernel.cuh is compiled for, and what surrounds a launch.
#include <cuda_fp16.h>

#include <vector>

#include "kernels/common/error.hpp"
#include "kernels/gemm/operands.hpp"
#include "kernels/gemm/passes.hpp"
#include "kernels/gemm/tensor.hpp"
#include "kernels/gemm/tensor_map.hpp"
#include "kernels/gemm/wgmma_kernel.cuh"

namespace roofcast::cuda::gemm {
namespace {

namespace passes = roofcast::gemm::tensor::passes;

using hopper::schedule_of;
using hopper::Tile;
using hopper::wgmma_kernel;
using hopper::Work;
using roofcast::gemm::tensor::kOneSplit;
using roofcast::gemm::tensor::kWgmmaAlongKTiles;
using roofcast::gemm::tensor::kWgmmaTiles;
using roofcast::gemm::tensor::wgmma_along_k;
using roofcast::gemm::tensor::WgmmaTile;

/// Parts of k: of all tiles, or of those of the last round where it is not full. One of them is 1.
struct Split {
  int all, rest;
};
Split split_of(const Problem& p) {
  return {static_cast<int>(p[kSplitK]), static_cast<int>(p[kSplitRest])};
}

struct CompiledTile {
  Problem configuration;
  Schedule (*schedule)(const Shape&, Split);
  Launch (*launch)(const Schedule&);
  /// `sums` of the rest are by tile, those of all tiles are not.
  void (*run)(const Shape&, const Operands&, void* c, const Schedule&, float* sums, bool by_tile,
              cudaStream_t);
};

template <class Element>
constexpr CUtensorMapDataType map_type() {
  if constexpr (std::is_same_v<Element, __nv_bfloat16>) return CU_TENSOR_MAP_DATA_TYPE_BFLOAT16;
  if constexpr (std::is_same_v<Element, __half>) return CU_TENSOR_MAP_DATA_TYPE_FLOAT16;
  if constexpr (std::is_same_v<Element, float>) return CU_TENSOR_MAP_DATA_TYPE_FLOAT32;
  return CU_TENSOR_MAP_DATA_TYPE_UINT8;
}

/// Clusters of a kernel that the device holds at once: asked once, of the first device. Without one
/// as many as an H100 SXM holds, so that a launch can be described.
template <class T>
int resident_clusters() {
  static const int clusters = [] {
    constexpr int kSmsOfH100 = 132;
    if (!has_device()) return kSmsOfH100 / T::kCluster;
    const auto kernel = wgmma_kernel<T>;
    check(
        cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, T::kSharedBytes));
    int device = 0, sms = 0, most = 0;
    check(cudaGetDevice(&device));
    check(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device));
    if (T::kCluster == 1) return sms;  // one block an SM
    cudaLaunchAttribute attribute{};
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim.x = T::kCluster;
    attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
    cudaLaunchConfig_t config{};
    config.gridDim = dim3(static_cast<unsigned>(sms / T::kCluster * T::kCluster));
    config.blockDim = dim3(T::kThreads);
    config.dynamicSmemBytes = T::kSharedBytes;
    config.attrs = &attribute;
    config.numAttrs = 1;
    check(cudaOccupancyMaxActiveClusters(&most, kernel, &config));
    if (most < 1) throw CudaError("no cluster of gemm.wgmma fits this device");
    return most;
  }();
  return clusters;
}

template <class T>
Launch launch_of(const Schedule& schedule) {
  const int clusters = std::min(schedule.items(), resident_clusters<T>());
  return {reinterpret_cast<const void*>(wgmma_kernel<T>),
          dim3(static_cast<unsigned>(clusters * T::kCluster)), dim3(T::kThreads),
          static_cast<std::size_t>(T::kSharedBytes)};
}

template <class T>
Schedule planned(const Shape& shape, Split split) {
  const int parts = std::max(split.all, split.rest);
  const int tiles = schedule_of<T>(shape.m, shape.n, shape.k, 1, 1, 0, shape.matrices).tiles();
  const int whole = split.rest > 1  ? in_full_rounds(tiles, resident_clusters<T>())
                    : split.all > 1 ? 0
                                    : tiles;
  const auto grouped = [&](int group_rows) {
    return schedule_of<T>(shape.m, shape.n, shape.k, parts, group_rows, whole, shape.matrices);
  };
  return grouped(static_cast<int>(roofcast::gemm::tensor::wgmma_group_rows(
      ceil_div(shape.n, T::kColumns), std::int64_t{launch_of<T>(grouped(1)).grid.x})));
}

template <class T>
void run_tile(const Shape& shape, const Operands& from, void* c, const Schedule& schedule,
              float* sums, bool by_tile, cudaStream_t stream) {
  using Out = typename T::Out;
  constexpr auto kType = map_type<typename T::Element>();
  constexpr int kLinesB = b_box_lines(T::kTransposedB, T::kSize, T::kColumns, T::kCluster);
  constexpr int kOutSize = static_cast<int>(sizeof(Out));
  const auto map_of = [&](const Operands::Rows& matrix, int rows, int columns, int box_rows) {
    return tensor_map({kType, T::kSize, matrix.data, matrix.row, rows, columns, box_rows,
                       shape.matrices, matrix.stride});
  };
  CUtensorMap a = map_of(from.a(), shape.m, shape.k, T::kRows);
  CUtensorMap b = T::kTransposedB ? map_of(from.b(), shape.n, shape.k, kLinesB)
                                  : map_of(from.b(), shape.k, shape.n, kLinesB);
  const bool by_box = schedule.whole > 0 && multiple_of(16, c, shape.row_c * kOutSize);
  CUtensorMap to{};  // not read where C is stored by elements
  if (by_box) {
    to = tensor_map({map_type<Out>(), kOutSize, c, shape.row_c, shape.m, shape.n,
                     hopper::kPanelRows, shape.matrices, shape.m * shape.row_c});
  }
  const Launch launch = launch_of<T>(schedule);
  Work work{.m = shape.m,
            .n = shape.n,
            .k = shape.k,
            .matrices = shape.matrices,
            .parts = schedule.parts,
            .whole = schedule.whole,
            .group_rows = schedule.group * T::kCluster,
            .c = by_box ? nullptr : c,
            .row_c = shape.row_c,
            .sums = sums,
            .by_tile = by_tile};
  void* arguments[] = {&a, &b, &to, &work};
  rows::launch(launch.function, launch.grid, launch.block, T::kCluster, arguments, stream,
               launch.shared_bytes);
}

template <class Element, DType kType, bool kTransposedB, const auto& kTable, std::size_t kRow>
constexpr CompiledTile compiled() {
  constexpr WgmmaTile tile = kTable[kRow];
  using T = Tile<Element, static_cast<int>(tile.m), static_cast<int>(tile.n), tile.stages,
                 tile.consumers, tile.cluster, tile.ping_pong, kTransposedB>;
  static_assert(T::kSharedBytes == tile.shared_bytes() && T::kThreads == tile.threads());
  static_assert(tile.m * tile.n % passes::kSumsOfBlock == 0);
  return {tensor_configuration(kType, tile.m, tile.n, T::kDepth, kTransposedB, 1, tile.cluster, 1),
          planned<T>, launch_of<T>, run_tile<T>};
}

/// A table of the model's, compiled for a type and a layout of B.
template <class Element, DType kType, bool kTransposedB, const auto& kTable>
constexpr auto compiled_table() {
  return compiled_rows<kTable>([](auto row) {
    return compiled<Element, kType, kTransposedB, kTable, decltype(row)::value>();
  });
}

constexpr auto kCompiled =
    joined(compiled_table<__nv_bfloat16, DType::bf16, false, kWgmmaTiles>(),
           compiled_table<__nv_bfloat16, DType::bf16, true, kWgmmaTiles>(),
           compiled_table<__half, DType::fp16, false, kWgmmaTiles>(),
           compiled_table<__half, DType::fp16, true, kWgmmaTiles>(),
           compiled_table<float, DType::tf32, true, kWgmmaAlongKTiles>(),
           compiled_table<__nv_fp8_e4m3, DType::fp8, true, kWgmmaAlongKTiles>());
constexpr auto kConfigurations = configurations_of(kCompiled);

const CompiledTile* find_compiled(const Problem& p) {
  return find_tile(kCompiled, with_layout(p, wgmma_along_k(p.dtype)));
}

std::string unsupported(const Problem& p) {
  if (std::string why = unsupported_sizes(p); !why.empty()) return why;
  const CompiledTile* tile = find_compiled(p);
  if (tile == nullptr) return not_compiled("gemm.wgmma", p, kConfigurations);
  if (p[kSplitK] < 1 || p[kSplitK] > ceil_div(p[kK], p[kTileK])) {
    return "split_k must be from 1 to the tiles of k: " +
           std::to_string(ceil_div(p[kK], p[kTileK]));
  }
  if (p[kSplitRest] < 1 || p[kSplitRest] > ceil_div(p[kK], p[kTileK])) {
    return "split_rest must be from 1 to the tiles of k: " +
           std::to_string(ceil_div(p[kK], p[kTileK]));
  }
  if (p[kSplitRest] > 1 && p[kSplitK] > 1) return kOneSplit;
  const std::int64_t items =
      p[kBatch] * ceil_div(p[kM], p[kTileM]) * ceil_div(p[kN], p[kTileN]) * p[kSplitK];
  if (items > std::int64_t{1} << 30) return "too many tiles: choose larger tiles";
  if (!device_is(9, 0)) {
    return "this device has no wgmma (compute capability 9.0): use gemm.mma_sync";
  }
  return {};
}

Tensors with_scratch(const Problem& p) {
  Tensors all = tensor_tensors(p);
  add_operand_scratch(all, p, wgmma_along_k(p.dtype));
  if (p[kSplitK] > 1) {
    all.scratch.push_back(
        {DType::fp32, static_cast<std::size_t>(p[kSplitK] * p[kBatch] * p[kM] * p[kN])});
  }
  if (p[kSplitRest] > 1) {
    const std::int64_t sums = find_compiled(p)->schedule(shape_of(p), split_of(p)).split_sums();
    if (sums > 0) all.scratch.push_back({DType::fp32, static_cast<std::size_t>(sums)});
  }
  return all;
}

std::vector<Launch> launches(const Problem& p) {
  const Shape s = shape_of(p);
  std::vector<Launch> all = operand_launches(p, wgmma_along_k(p.dtype));
  const CompiledTile& tile = *find_compiled(p);
  const Schedule schedule = tile.schedule(s, split_of(p));
  all.push_back(tile.launch(schedule));
  if (p[kSplitK] > 1) all.push_back(sum_parts_launch(s.rows_c(), s.n, result_type(p.dtype)));
  if (p[kSplitRest] > 1 && schedule.split_tiles() > 0) {
    all.push_back(sum_tiles_launch(schedule, result_type(p.dtype)));
  }
  return all;
}

void run(const Problem& p, const Addresses& at, cudaStream_t stream) {
  const Shape shape = shape_of(p);
  const Operands operands(p, wgmma_along_k(p.dtype), at, stream);
  const CompiledTile& tile = *find_compiled(p);
  const Schedule schedule = tile.schedule(shape, split_of(p));
  const bool splits = schedule.split_tiles() > 0, by_tile = p[kSplitRest] > 1;
  float* const sums = splits ? static_cast<float*>(at.scratch[operands.next_scratch()]) : nullptr;
  void* const c = at.outputs[0];
  tile.run(shape, operands, c, schedule, sums, by_tile, stream);
  if (!splits) return;
  const DType type = result_type(p.dtype);
  if (by_tile) {
    sum_tiles(sums, schedule, shape.m, shape.n, c, shape.row_c, type, stream);
  } else {
    sum_parts(sums, schedule.parts, shape.rows_c(), shape.n, c, shape.row_c, type, stream);
  }
}

}  // namespace

KernelEntry wgmma() {
  return tensor_entry("gemm.wgmma", kConfigurations, unsupported, with_scratch, launches, run);
}

}  // namespace roofcast::cuda::gemm
