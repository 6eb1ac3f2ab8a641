#pragma once
// Launches before and after a product of a library: A in fewer bits, and sums of parts of k.
#include <cstdint>

#include "model/types/plan.hpp"

namespace roofcast::gemm {

/// How A of an fp8 product is converted from 16 bits.
enum Quantize : std::int64_t {
  kNothing,        ///< A has 8 bits
  kActivations,    ///< by a known scale: one launch
  kDynamic,        ///< by its largest |a|, an element at a time: four launches
  kDynamicVectors  ///< eight elements at a time, as later releases do: three launches
};

/// A in 16 bits and in 8, and the scale between them.
struct QuantizedArrays {
  ArrayId wide, narrow, scale, wide_scale;
};

/// The launches before the product; none if `how` is kNothing.
LaunchSequence quantization(Quantize how, double elements, const QuantizedArrays& arrays);

/// Adds `splits` parts of each output; a thread takes four outputs and loads their parts together.
Plan sum_of_parts(double outputs, double splits, double result_bytes, ArrayId parts, ArrayId sums);

}  // namespace roofcast::gemm
