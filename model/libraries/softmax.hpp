#pragma once
#include "model/libraries/rows.hpp"

namespace roofcast::softmax {

/// Softmax over the rows as PyTorch launches it (ATen/native/cuda/SoftMax.cu and
/// PersistentSoftmax.cuh). A warp holds a short row, or two, in registers and reads it once;
/// beyond, a block takes a row: 2.1 sweeps it three times, for the maximum, the sum and the result;
/// 2.11 holds it in registers or shared memory as far as it fits.
LaunchSequence plan_library(const Problem& problem, const Gpu& gpu);

enum LibraryParameter : std::size_t { kRelease = 2 };
enum Release : std::int64_t { k2_1, k2_11 };
inline constexpr std::array<std::string_view, 2> kReleaseNames = {"2.1", "2.11"};
inline constexpr std::array kLibraryParameters = with_own(
    rows::kShape,
    choice("release", "of PyTorch, whose kernels for rows of more than 1024 elements differ",
           kReleaseNames, k2_1));

inline constexpr KernelModel kLibrary = {"softmax.library",
                                         "what PyTorch launches: a short row in a warp, beyond a "
                                         "block a row",
                                         kLibraryParameters,
                                         library::kRowTypes,
                                         plan_library,
                                         library::kRowsValidated};

}  // namespace roofcast::softmax
