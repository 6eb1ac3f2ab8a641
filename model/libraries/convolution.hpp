#pragma once
// Convolutions as cuDNN computes them: GEMMs whose operand A is an image, which is stored once.
#include <cstddef>

#include "model/types/kernel_model.hpp"

namespace roofcast::convolution {

/// Positions in Problem: the shape, then the library's settings.
enum Shape : std::size_t { kImages, kHeight, kWidth, kChannels, kFilters, kSide, kStride };
enum LibraryParameter : std::size_t { kTileM = kStride + 1, kTileN, kSplitK };

extern const KernelFamily kFamily;

}  // namespace roofcast::convolution
