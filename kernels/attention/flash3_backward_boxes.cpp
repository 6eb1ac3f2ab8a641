#include "kernels/attention/flash3_backward_boxes.hpp"

#include <array>
#include <string>

#include "kernels/common/error.hpp"

namespace roofcast::cuda::attention::flash3_backward {
namespace {

using Encode = decltype(&cuTensorMapEncodeTiled);

// Through the runtime: nothing links the driver's library, which machines without a GPU lack.
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

CUtensorMap tensor_map(const Heads& h) {
  constexpr std::int64_t kSize = 2;
  const std::array<cuuint64_t, 3> extents = {static_cast<cuuint64_t>(h.head_dim),
                                             static_cast<cuuint64_t>(h.rows),
                                             static_cast<cuuint64_t>(h.heads)};
  const std::array<cuuint64_t, 2> strides = {static_cast<cuuint64_t>(h.head_dim * kSize),
                                             static_cast<cuuint64_t>(h.rows * h.head_dim * kSize)};
  const std::array<cuuint32_t, 3> box = {kBoxColumns, static_cast<cuuint32_t>(h.box_rows), 1};
  constexpr std::array<cuuint32_t, 3> kEach = {1, 1, 1};
  CUtensorMap map{};
  const CUresult result = encode()(
      &map, h.type, extents.size(), const_cast<void*>(h.data), extents.data(), strides.data(),
      box.data(), kEach.data(), CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
      CU_TENSOR_MAP_L2_PROMOTION_L2_128B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (result != CUDA_SUCCESS) {
    throw CudaError("cuTensorMapEncodeTiled refused " + std::to_string(h.heads) + " heads of " +
                    std::to_string(h.rows) + " × " + std::to_string(h.head_dim) + ": error " +
                    std::to_string(result));
  }
  return map;
}

}  // namespace roofcast::cuda::attention::flash3_backward
