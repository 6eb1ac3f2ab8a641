#pragma once
#include <array>
#include <cstddef>
#include <string_view>

#include "model/kernels/common/rows.hpp"
#include "model/types/kernel_model.hpp"

namespace roofcast::norm {

/// Positions in Problem after the shape.
enum LibraryParameter : std::size_t { kLibraryPass = 2, kLibraryKind = 3 };
enum LibraryKind : std::int64_t { kLibraryLayernorm, kLibraryRmsnorm };

/// Normalization of rows, forward, as PyTorch launches it (ATen/native/cuda/layer_norm_kernel.cu):
/// 128 threads a row that sweep it twice, for the moments and for the result; where the rows do not
/// divide into vectors of four, a kernel for each sweep. Writes the moments of each row too.
LaunchSequence plan_library(const Problem& problem, const Gpu& gpu);

inline constexpr std::array<std::string_view, 2> kLibraryKinds = {"layernorm", "rmsnorm"};
inline constexpr std::array<std::string_view, 1> kLibraryPasses = {"forward"};
inline constexpr std::array kLibraryParameters =
    with_own(rows::kShape, choice("pass", "forward alone", kLibraryPasses, 0),
             choice("kind", "what is normalized: mean and variance, or the root mean square",
                    kLibraryKinds, kLibraryLayernorm));

inline constexpr std::array kLibraryTypes = {DType::fp32, DType::fp16, DType::bf16};

/// Shapes of the table that the forecasts are held against: tests/validation/reference_test.cpp.
inline constexpr std::array kLibraryValidated = {ValidatedRange{rows::kRows, 8192, 4194304},
                                                 ValidatedRange{rows::kCols, 768, 16384}};

inline constexpr KernelModel kLibrary = {"norm.library",
                                         "what PyTorch launches, forward: 128 threads a row, two "
                                         "sweeps",
                                         kLibraryParameters,
                                         kLibraryTypes,
                                         plan_library,
                                         kLibraryValidated};

}  // namespace roofcast::norm
