#pragma once
// Launches before and after a library's product: quantization of A, reduction of split-K.
#include <cstdint>

#include "model/types/plan.hpp"

namespace roofcast::gemm {

/// How A of an fp8 product is converted from 16 bits.
enum Quantize : std::int64_t {
  kNothing,        ///< A already has 8 bits
  kActivations,    ///< by a known scale: one launch
  kDynamic,        ///< scaled by the largest |a|, element by element: four launches
  kDynamicVectors  ///< the same, eight elements at a time, as later releases do: three launches
};

/// A in 16 bits and in 8 bits, and the scale between them, as computed and as the product takes it.
struct QuantizedArrays {
  ArrayId wide, narrow, scale, wide_scale;
};

/// The launches before the product; none if `how` is kNothing.
LaunchSequence quantization(Quantize how, double elements, const QuantizedArrays& arrays);

/// The reduction of split-K: a thread adds `splits` partial sums of each of four outputs.
Plan sum_of_parts(double outputs, double splits, double result_bytes, ArrayId parts, ArrayId sums);

}  // namespace roofcast::gemm
