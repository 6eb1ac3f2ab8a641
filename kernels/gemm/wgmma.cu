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

using hopper::schedule_of;
using hopper::Tile;
using hopper::wgmma_kernel;
using hopper::Work;
using roofcast::gemm::tensor::kWgmmaAlongKTiles;
using roofcast::gemm::tensor::kWgmmaTiles;
using roofcast::gemm::tensor::wgmma_along_k;
using roofcast::gemm::tensor::WgmmaTile;

struct CompiledTile {
  Problem configuration;
  Launch (*launch)(const Shape&, int parts);
  void (*run)(const Shape&, const Operands&, void* c, int parts, float* sums, cudaStream_t);
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
Launch launch_of(const Shape& shape, int parts) {
  const int items = schedule_of<T>(shape.m, shape.n, shape.k, parts, 1).items();
  const int clusters = std::min(items, resident_clusters<T>());
  return {reinterpret_cast<const void*>(wgmma_kernel<T>),
          dim3(static_cast<unsigned>(clusters * T::kCluster)), dim3(T::kThreads),
          static_cast<std::size_t>(T::kSharedBytes)};
}

template <class T>
void run_tile(const Shape& shape, const Operands& from, void* c, int parts, float* sums,
              cudaStream_t stream) {
  using Out = typename T::Out;
  constexpr auto kType = map_type<typename T::Element>();
  constexpr int kLinesB = b_box_lines(T::kTransposedB, T::kSize, T::kColumns, T::kCluster);
  constexpr int kOutSize = static_cast<int>(sizeof(Out));
  CUtensorMap a = tensor_map({kType, T::kSize, from.a(), from.row_a(), shape.m, shape.k, T::kRows});
  CUtensorMap b = T::kTransposedB ? tensor_map({kType, T::kSize, from.b(), from.row_b(), shape.n,
                                                shape.k, T::kColumns / T::kCluster})
                                  : tensor_map({kType, T::kSize, from.b(), from.row_b(), shape.k,
                                                shape.n, T::kDepth / T::kCluster});
  const bool by_box = parts == 1 && multiple_of(16, c, shape.row_c * kOutSize);
  CUtensorMap to{};  // not read where C is stored by elements
  if (by_box) {
    to = tensor_map(
        {map_type<Out>(), kOutSize, c, shape.row_c, shape.m, shape.n, hopper::kPanelRows});
  }
  const Launch launch = launch_of<T>(shape, parts);
  const auto group_rows = static_cast<int>(roofcast::gemm::tensor::wgmma_group_rows(
      ceil_div(shape.n, T::kColumns), static_cast<std::int64_t>(launch.grid.x)));
  Work work{shape.m,     shape.n,
            shape.k,     parts,
            group_rows,  by_box ? nullptr : c,
            shape.row_c, parts == 1 ? nullptr : sums};
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
  return {tensor_configuration(kType, tile.m, tile.n, T::kDepth, kTransposedB, 1, tile.cluster),
          launch_of<T>, run_tile<T>};
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
  const std::int64_t items = ceil_div(p[kM], p[kTileM]) * ceil_div(p[kN], p[kTileN]) * p[kSplitK];
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
    all.scratch.push_back({DType::fp32, static_cast<std::size_t>(p[kSplitK] * p[kM] * p[kN])});
  }
  return all;
}

std::vector<Launch> launches(const Problem& p) {
  const Shape s = shape_of(p);
  std::vector<Launch> all = operand_launches(p, wgmma_along_k(p.dtype));
  all.push_back(find_compiled(p)->launch(s, static_cast<int>(p[kSplitK])));
  if (p[kSplitK] > 1) all.push_back(sum_parts_launch(s.m, s.n, result_type(p.dtype)));
  return all;
}

void run(const Problem& p, const Addresses& at, cudaStream_t stream) {
  const Shape shape = shape_of(p);
  const Operands operands(p, wgmma_along_k(p.dtype), at, stream);
  const auto parts = static_cast<int>(p[kSplitK]);
  float* const sums =
      parts > 1 ? static_cast<float*>(at.scratch[operands.next_scratch()]) : nullptr;
  find_compiled(p)->run(shape, operands, at.outputs[0], parts, sums, stream);
  if (parts > 1) {
    sum_parts(sums, parts, shape.m, shape.n, at.outputs[0], shape.row_c, result_type(p.dtype),
              stream);
  }
}

}  // namespace

KernelEntry wgmma() {
  return tensor_entry("gemm.wgmma", kConfigurations, unsupported, with_scratch, launches, run);
}

}  // namespace roofcast::cuda::gemm
