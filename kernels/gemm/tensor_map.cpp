#include "kernels/gemm/tensor_map.hpp"

#include <array>

#include "kernels/common/error.hpp"

namespace roofcast::cuda::gemm {
namespace {

using Encode = decltype(&cuTensorMapEncodeTiled);

Encode encode() {
  static const Encode function = [] {
    void* entry = nullptr;
    cudaDriverEntryPointQueryResult found{};
    check(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &entry, 12000,
                                           cudaEnableDefault, &found));
    if (entry == nullptr || found != cudaDriverEntryPointSuccess) {
      throw CudaError("the driver has no tensor maps (cuTensorMapEncodeTiled): it is too old");
    }
    return reinterpret_cast<Encode>(entry);
  }();
  return function;
}

cuuint64_t extent(std::int64_t count) {
  return static_cast<cuuint64_t>(count);
}

}  // namespace

CUtensorMap tensor_map(const BoxedMatrices& m, int box_bytes) {
  const std::array extents = {extent(m.columns), extent(m.rows), extent(m.count)};
  const std::array strides = {extent(m.row * m.size), extent(m.stride * m.size)};
  const std::array<cuuint32_t, 3> box = {static_cast<cuuint32_t>(box_bytes / m.size),
                                         static_cast<cuuint32_t>(m.box_rows), 1};
  constexpr std::array<cuuint32_t, 3> kEach = {1, 1, 1};
  CUtensorMap map{};
  const CUresult result =
      encode()(&map, m.type, extents.size(), const_cast<void*>(m.data), extents.data(),
               strides.data(), box.data(), kEach.data(), CU_TENSOR_MAP_INTERLEAVE_NONE,
               box_bytes == 64 ? CU_TENSOR_MAP_SWIZZLE_64B : CU_TENSOR_MAP_SWIZZLE_128B,
               CU_TENSOR_MAP_L2_PROMOTION_L2_128B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (result != CUDA_SUCCESS) {
    throw CudaError("cuTensorMapEncodeTiled refused " + std::to_string(m.count) + " matrices of " +
                    std::to_string(m.rows) + " × " + std::to_string(m.columns) + ": error " +
                    std::to_string(result));
  }
  return map;
}

}  // namespace roofcast::cuda::gemm
