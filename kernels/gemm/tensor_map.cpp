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

template <std::size_t kRank>
CUtensorMap encoded(const BoxedMatrix& m, const std::array<cuuint64_t, kRank>& extents,
                    const std::array<cuuint64_t, kRank - 1>& strides) {
  constexpr cuuint32_t kBoxBytes = 128;
  std::array<cuuint32_t, kRank> box, each;
  box.fill(1);
  each.fill(1);
  box[0] = kBoxBytes / static_cast<cuuint32_t>(m.size);
  box[1] = static_cast<cuuint32_t>(m.box_rows);
  CUtensorMap map{};
  const CUresult result =
      encode()(&map, m.type, kRank, const_cast<void*>(m.data), extents.data(), strides.data(),
               box.data(), each.data(), CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
               CU_TENSOR_MAP_L2_PROMOTION_L2_128B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (result != CUDA_SUCCESS) {
    throw CudaError("cuTensorMapEncodeTiled refused a matrix of " + std::to_string(m.rows) + " × " +
                    std::to_string(m.columns) + ": error " + std::to_string(result));
  }
  return map;
}

cuuint64_t extent(std::int64_t count) {
  return static_cast<cuuint64_t>(count);
}

}  // namespace

CUtensorMap tensor_map(const BoxedMatrix& m) {
  return encoded<2>(m, {extent(m.columns), extent(m.rows)}, {extent(m.row * m.size)});
}

CUtensorMap tensor_map(const BoxedMatrices& m) {
  const BoxedMatrix& each = m.each;
  return encoded<3>(each, {extent(each.columns), extent(each.rows), extent(m.count)},
                    {extent(each.row * each.size), extent(m.stride * each.size)});
}

}  // namespace roofcast::cuda::gemm
