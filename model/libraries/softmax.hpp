#pragma once
#include <array>

#include "model/kernels/common/rows.hpp"
#include "model/types/kernel_model.hpp"

namespace roofcast::softmax {

/// Softmax over the rows as PyTorch 2.1 launches it (ATen/native/cuda/SoftMax.cu and
/// PersistentSoftmax.cuh): up to 1024 elements a warp holds a row, or two, in registers and reads
/// them once; beyond, a block a row sweeps it three times, for the maximum, the sum and the result.
LaunchSequence plan_library(const Problem& problem, const Gpu& gpu);

inline constexpr std::array kLibraryTypes = {DType::fp32, DType::fp16, DType::bf16};

/// Shapes of the table that the forecasts are held against: tests/validation/reference_test.cpp.
inline constexpr std::array kLibraryValidated = {ValidatedRange{rows::kRows, 8192, 4194304},
                                                 ValidatedRange{rows::kCols, 768, 16384}};

inline constexpr KernelModel kLibrary = {"softmax.library",
                                         "what PyTorch 2.1 launches: a warp a row up to 1024 "
                                         "elements, beyond a block a row and three sweeps",
                                         rows::kShape,
                                         kLibraryTypes,
                                         plan_library,
                                         kLibraryValidated};

}  // namespace roofcast::softmax
