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

}  // namespace

CUtensorMap tensor_map(const BoxedMatrix& m) {
  constexpr cuuint32_t kBoxBytes = 128;
  const std::array<cuuint64_t, 2> extents = {static_cast<cuuint64_t>(m.columns),
                                             static_cast<cuuint64_t>(m.rows)};
  const std::array<cuuint64_t, 1> strides = {static_cast<cuuint64_t>(m.row * m.size)};
  const std::array<cuuint32_t, 2> box = {kBoxBytes / static_cast<cuuint32_t>(m.size),
                                         static_cast<cuuint32_t>(m.box_rows)};
  constexpr std::array<cuuint32_t, 2> kEach = {1, 1};
  CUtensorMap map{};
  const CUresult result = encode()(
      &map, m.type, extents.size(), const_cast<void*>(m.data), extents.data(), strides.data(),
      box.data(), kEach.data(), CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
      CU_TENSOR_MAP_L2_PROMOTION_L2_128B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (result != CUDA_SUCCESS) {
    throw CudaError("cuTensorMapEncodeTiled refused a matrix of " + std::to_string(m.rows) + " × " +
                    std::to_string(m.columns) + ": error " + std::to_string(result));
  }
  return map;
}

}  // namespace roofcast::cuda::gemm
