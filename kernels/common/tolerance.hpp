#pragma once
// Terms of the tolerances: relative errors derived from the type's unit roundoff u and the length
// of the sums, at six standard deviations where errors are random. Inputs are standard normal.
#include <algorithm>
#include <cmath>

#include "model/types/dtype.hpp"

namespace roofcast::cuda {

/// Half the distance from 1 to the next number: the relative error of one rounding to the type.
constexpr double unit_roundoff(DType dtype) {
  switch (dtype) {
    case DType::fp64:
      return 0x1p-53;
    case DType::fp16:
    case DType::tf32:
      return 0x1p-11;
    case DType::bf16:
      return 0x1p-8;
    default:
      return 0x1p-24;
  }
}

inline constexpr double kFp32Roundoff = unit_roundoff(DType::fp32);

/// The error that rounding an fp32 result once to `dtype` adds, relative to the largest result,
/// which is at least `largest`. Below 2^-14 fp16 rounds to multiples of 2^-24.
constexpr double narrowing(DType dtype, double largest = 1) {
  if (dtype == DType::fp32) return 0;
  return dtype == DType::fp16 ? std::max(unit_roundoff(dtype), 0x1p-25 / largest)
                              : unit_roundoff(dtype);
}

/// The error of a sum of n terms in fp32: chains of `chain` terms are added one after another, the
/// chains' sums by a tree. An addition errs by at most u·|partial sum|, with a deviation of u/√3 of
/// it. The partial sum of i normal numbers has the deviation √i, so a chain of L has the variance
/// u²/3·Σi = u²·L²/6, the n/L chains u²·n·L/6, and each level of the tree u²·n/3: relative to √n,
/// the size of the sum, u·√(L/6 + log2(n/L)/3). Terms of one sign err less relative to their sum.
/// (Higham and Mary 2019 bound random errors alike.)
inline double sum_error(double n, double chain) {
  chain = std::clamp(chain, 1.0, n);
  return 6 * kFp32Roundoff * std::sqrt(chain / 6 + std::log2(n / chain) / 3);
}

/// The largest magnitude of `count` normal numbers is below this at most once in a thousand times:
/// P(|z| < x)^count ≤ (0.8·x)^count.
inline double least_largest(double count) {
  return std::pow(1e-3, 1 / count);
}

}  // namespace roofcast::cuda
