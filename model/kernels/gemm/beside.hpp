#pragma once
#include <cstdint>

#include "model/types/plan.hpp"

namespace roofcast::gemm {

/// How A of an fp8 product, which comes in 16 bits, gets its 8.
enum Quantize : std::int64_t {
  kNothing,        ///< it has them
  kActivations,    ///< by a scale that is known: one launch
  kDynamic,        ///< by the largest |a| of A, an element at a time: four launches
  kDynamicVectors  ///< as later releases do, eight at a time: three
};

/// The arrays that the launches beside a product use.
struct QuantizedArrays {
  ArrayId wide;    ///< A in 16 bits
  ArrayId narrow;  ///< and in 8
  ArrayId scale;
  ArrayId wide_scale;
};

/// What runs before the product; nothing if `how` is kNothing.
LaunchSequence quantization(Quantize how, double elements, const QuantizedArrays& arrays);

/// Adds `splits` parts of each of so many outputs, a thread four of them, their parts loaded
/// together.
Plan sum_of_parts(double outputs, double splits, double result_bytes, ArrayId parts, ArrayId sums);

}  // namespace roofcast::gemm
