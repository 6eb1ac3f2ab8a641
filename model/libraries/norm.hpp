#pragma once
#include <array>
#include <cstddef>
#include <string_view>

#include "model/libraries/rows.hpp"

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

inline constexpr KernelModel kLibrary = {"norm.library",
                                         "what PyTorch launches, forward: 128 threads a row, two "
                                         "sweeps",
                                         kLibraryParameters,
                                         library::kRowTypes,
                                         plan_library,
                                         library::kRowsValidated};

}  // namespace roofcast::norm
