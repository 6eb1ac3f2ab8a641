#pragma once
// Schedule, tensor maps and launch of wgmma_kernel.cuh, for the files that compile its tiles.
#include <cuda_fp16.h>

#include <algorithm>

#include "kernels/common/error.hpp"
#include "kernels/gemm/tensor_map.hpp"
#include "kernels/gemm/wgmma.hpp"
#include "kernels/gemm/wgmma_kernel.cuh"

namespace roofcast::cuda::gemm::hopper {

using roofcast::gemm::tensor::kWgmmaAlongKTiles;
using roofcast::gemm::tensor::kWgmmaSwapAbTiles;
using roofcast::gemm::tensor::kWgmmaTiles;
using roofcast::gemm::tensor::WgmmaTile;

/// Clusters of a kernel that the device holds at once, queried once, for the first device. Without
/// a device the number on an H100 SXM, so that a launch can be described.
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
Schedule planned(const Shape& shape, Asked asked) {
  const int down = T::kSwapAb ? shape.n : shape.m, across = T::kSwapAb ? shape.m : shape.n;
  const auto of = [&](Groups groups, Split split) {
    return Schedule::of(down, across, shape.k, T::kRows, T::kColumns, T::kDepth, T::kCluster,
                        groups, split, shape.matrices);
  };
  const int tiles = of({1}, {}).tiles();
  Split split{tiles, 1, false};
  if (asked.split_k > 1) split = {0, asked.split_k, false};
  if (asked.split_rest > 1) {
    split = {in_full_rounds(tiles, resident_clusters<T>()), asked.split_rest, true};
  }
  const std::int64_t blocks = launch_of<T>(of({1}, split)).grid.x;
  const int beside = T::kColumnsFirst ? ceil_div(down, T::kRows) : ceil_div(across, T::kColumns);
  return of(
      {static_cast<int>(roofcast::gemm::tensor::wgmma_group(beside, blocks)), T::kColumnsFirst},
      split);
}

template <class T>
WorkspaceSize workspace_of(const Schedule& schedule) {
  const std::int64_t slots = schedule.slots();
  return {slots * T::kRows * T::kColumns / 4, slots * T::kFlags};
}

template <class T>
void run_tile(const Shape& shape, const Operands& from, void* c, const Schedule& schedule,
              void* scratch, cudaStream_t stream) {
  using Out = typename T::Out;
  constexpr auto kType = map_type<typename T::Element>();
  constexpr int kLinesB = b_box_lines(T::kTransposedB, T::kSize, T::kColumns, T::kCluster);
  constexpr int kOutSize = static_cast<int>(sizeof(Out));
  const auto map_of = [&](const Operands::Rows& matrix, int rows, int columns, int box_rows) {
    return tensor_map({kType, T::kSize, matrix.data, matrix.row, rows, columns, box_rows,
                       shape.matrices, matrix.stride});
  };
  const auto edged = [&](const Operands::Rows& matrix, int rows, int box_rows) {
    return edged_map(rows, box_rows,
                     [&](int lines) { return map_of(matrix, rows, shape.k, lines); });
  };
  Maps maps{};
  maps.a = T::kSwapAb ? edged(from.b(), shape.n, T::kRows) : edged(from.a(), shape.m, T::kRows);
  if constexpr (T::kTransposedB) {
    maps.b = T::kSwapAb ? edged(from.a(), shape.m, kLinesB) : edged(from.b(), shape.n, kLinesB);
  } else {
    maps.b.whole = maps.b.edge = map_of(from.b(), shape.k, shape.n, kLinesB);
  }
  // A box writes whole chunks of 16 bytes: where n does not fill them, beyond the columns of C too.
  const bool added = schedule.split.parts > 1 && !schedule.split.joined;
  const bool by_box =
      !added && multiple_of(16, c, shape.row_c * kOutSize) && shape.n * kOutSize % 16 == 0;
  if (by_box) {  // else the map is not read: threads store C by elements
    maps.c = tensor_map({map_type<Out>(), kOutSize, c, shape.row_c, shape.m, shape.n,
                         T::kStoredLines, shape.matrices, shape.m * shape.row_c});
  }
  const Launch launch = launch_of<T>(schedule);
  Work work{.schedule = schedule,
            .m = shape.m,
            .n = shape.n,
            .c = by_box ? nullptr : c,
            .row_c = shape.row_c,
            .parts = added ? static_cast<float*>(scratch) : nullptr,
            .workspace = workspace_of<T>(schedule).at(scratch)};
  void* arguments[] = {&maps, &work};
  rows::launch(launch.function, launch.grid, launch.block, arguments, stream,
               {.cluster = T::kCluster, .shared_bytes = launch.shared_bytes});
}

template <class Element, DType kType, bool kTransposedB, const auto& kTable, std::size_t kRow>
constexpr CompiledTile compiled() {
  constexpr WgmmaTile tile = kTable[kRow];
  using T = Tile<Element, static_cast<int>(tile.down()), static_cast<int>(tile.across()),
                 tile.stages, tile.consumers, tile.cluster, tile.ping_pong, kTransposedB,
                 tile.swap_ab, static_cast<int>(tile.panel_lines())>;
  static_assert(T::kSharedBytes == tile.shared_bytes() && T::kThreads == tile.threads());
  return {tensor_configuration(kType, tile.m, tile.n, T::kDepth, kTransposedB, 1, tile.cluster, 1),
          planned<T>, launch_of<T>, workspace_of<T>, run_tile<T>};
}

/// The tiles of one of the model's tables, compiled for a type and a layout of B.
template <class Element, DType kType, bool kTransposedB, const auto& kTable>
constexpr auto compiled_table() {
  return compiled_rows<kTable>([](auto row) {
    return compiled<Element, kType, kTransposedB, kTable, decltype(row)::value>();
  });
}

}  // namespace roofcast::cuda::gemm::hopper
