#pragma once
// Softmax and normalizations as PyTorch launches them.
#include <array>
#include <cstddef>
#include <span>
#include <string_view>

#include "model/kernels/common/rows.hpp"
#include "model/types/kernel_model.hpp"

namespace roofcast::softmax {

/// Shapes in the comparison's table of softmax and norms (tests/validation/comparison).
inline constexpr std::array kLibraryValidated = {ValidatedRange{rows::kRows, 8192, 4194304},
                                                 ValidatedRange{rows::kCols, 768, 16384}};

/// ATen/native/cuda/SoftMax.cu and PersistentSoftmax.cuh. A warp holds a short row, or two, in
/// registers and reads it once. A longer row takes a block: release 2.1 sweeps over it three times,
/// for maximum, sum and result; 2.11 holds it in registers if it fits.
LaunchSequence plan_library(const Problem& problem, const Gpu& gpu);

enum LibraryParameter : std::size_t { kRelease = rows::kCols + 1 };
enum Release : std::int64_t { k2_1, k2_11 };
inline constexpr std::array<std::string_view, 2> kReleaseNames = {"2.1", "2.11"};
inline constexpr std::array kLibraryParameters = with_own(
    rows::kShape,
    choice("release", "of PyTorch, whose kernels for rows of more than 1024 elements differ",
           kReleaseNames, k2_1));

inline constexpr KernelModel kLibrary = {
    .name = "softmax.library",
    .summary = "what PyTorch launches: a short row in a warp, beyond a block a row",
    .parameters = kLibraryParameters,
    .dtypes = rows::kTypes,
    .plan = plan_library,
    .validated = kLibraryValidated};

}  // namespace roofcast::softmax

namespace roofcast::norm {

/// Forward (ATen/native/cuda/layer_norm_kernel.cu): 128 threads per row sweep over it twice, for
/// the moments and for the result. Also writes the moments of each row.
LaunchSequence plan_library(const Problem& problem, const Gpu& gpu);

/// Positions in Problem after the shape.
enum LibraryParameter : std::size_t { kLibraryKind = rows::kCols + 2 };
enum LibraryKind : std::int64_t { kLibraryLayernorm, kLibraryRmsnorm };
inline constexpr std::array<std::string_view, 2> kLibraryKinds = {"layernorm", "rmsnorm"};
inline constexpr std::array kLibraryParameters = with_own(
    rows::kShape, choice("pass", "forward alone", std::span(kPassNames).first(1), kForward),
    choice("kind", "what is normalized: mean and variance, or the root mean square", kLibraryKinds,
           kLibraryLayernorm));

inline constexpr KernelModel kLibrary = {
    .name = "norm.library",
    .summary = "what PyTorch launches, forward: 128 threads a row, two sweeps",
    .parameters = kLibraryParameters,
    .dtypes = rows::kTypes,
    .plan = plan_library,
    .validated = softmax::kLibraryValidated};

}  // namespace roofcast::norm
