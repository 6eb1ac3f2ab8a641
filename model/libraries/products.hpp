#pragma once
// Products of other operands than two dense matrices, each planned as a product of cuBLAS's tiles
// whose operand has fewer bytes: weights of 4 bits, and the input of a convolution, which lies
// there once.
#include <cstddef>

#include "model/types/kernel_model.hpp"

namespace roofcast::products {

/// Positions in Problem of a convolution.
enum ConvolutionParameter : std::size_t {
  kImages,
  kHeight,
  kWidth,
  kChannels,
  kFilters,
  kSide,
  kStride,
  kTileM,
  kTileN,
  kSplitK
};

extern const KernelFamily kInt4Family;
extern const KernelFamily kConvolutionFamily;

}  // namespace roofcast::products
