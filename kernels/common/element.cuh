#pragma once
// The C++ type of each DType, and the conversions to and from the type of the arithmetic: 16-bit
// types are widened to fp32 and rounded once when stored.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstdint>
#include <stdexcept>
#include <string>
#include <type_traits>

#include "kernels/common/tolerance.hpp"
#include "model/types/dtype.hpp"

namespace roofcast::cuda {

/// Calls visitor(std::type_identity<T>{}) with the C++ type that stores the DType.
template <class Visitor>
decltype(auto) visit_element(DType dtype, Visitor&& visitor) {
  switch (dtype) {
    case DType::fp64:
      return visitor(std::type_identity<double>{});
    case DType::fp32:
    case DType::tf32:
      return visitor(std::type_identity<float>{});
    case DType::fp16:
      return visitor(std::type_identity<__half>{});
    case DType::bf16:
      return visitor(std::type_identity<__nv_bfloat16>{});
    default:
      throw std::invalid_argument("no CUDA element type for " + std::string(name(dtype)));
  }
}

/// As visit_element, for kernels that accept fp32, fp16 and bf16 alone: fewer template instances.
template <class Visitor>
decltype(auto) visit_up_to_fp32(DType dtype, Visitor&& visitor) {
  if (dtype == DType::fp16) return visitor(std::type_identity<__half>{});
  if (dtype == DType::bf16) return visitor(std::type_identity<__nv_bfloat16>{});
  return visitor(std::type_identity<float>{});
}

__device__ inline float widen(__half x) {
  return __half2float(x);
}
__device__ inline float widen(__nv_bfloat16 x) {
  return __bfloat162float(x);
}
template <class T>
__device__ T widen(T x) {  // float, double, and integers moved as bits
  return x;
}

template <class T, class Wide>
__device__ T narrow(Wide x) {
  if constexpr (std::is_same_v<T, __half>) {
    return __float2half_rn(static_cast<float>(x));
  } else if constexpr (std::is_same_v<T, __nv_bfloat16>) {
    return __float2bfloat16_rn(static_cast<float>(x));
  } else {
    return static_cast<T>(x);
  }
}

}  // namespace roofcast::cuda
