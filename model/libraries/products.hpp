#pragma once
// GEMMs with an operand that is no dense matrix: 4-bit weights, and convolutions, whose image is
// stored once. Each is planned as a cuBLAS GEMM with an operand of fewer bytes.
#include <cstddef>

#include "model/types/kernel_model.hpp"

namespace roofcast::products {

/// Positions in a convolution's Problem: the shape, then the library's settings.
enum Shape : std::size_t { kImages, kHeight, kWidth, kChannels, kFilters, kSide, kStride };
enum LibraryParameter : std::size_t { kTileM = kStride + 1, kTileN, kSplitK };

extern const KernelFamily kInt4Family;
extern const KernelFamily kConvolutionFamily;

}  // namespace roofcast::products
