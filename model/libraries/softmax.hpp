#pragma once
#include "model/libraries/rows.hpp"

namespace roofcast::softmax {

/// Softmax over the rows as PyTorch 2.1 launches it (ATen/native/cuda/SoftMax.cu and
/// PersistentSoftmax.cuh): up to 1024 elements a warp holds a row, or two, in registers and reads
/// them once; beyond, a block a row sweeps it three times, for the maximum, the sum and the result.
LaunchSequence plan_library(const Problem& problem, const Gpu& gpu);

inline constexpr KernelModel kLibrary = {"softmax.library",
                                         "what PyTorch 2.1 launches: a warp a row up to 1024 "
                                         "elements, beyond a block a row and three sweeps",
                                         rows::kShape,
                                         library::kRowTypes,
                                         plan_library,
                                         library::kRowsValidated};

}  // namespace roofcast::softmax
