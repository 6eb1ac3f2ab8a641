#pragma once
// Matrix products near one, each with its forecast.
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "model/advice.hpp"
#include "model/kernels/gemm/gemm.hpp"

namespace roofcast {

/// Positions of a product's extents in Problem.
inline constexpr std::array<std::size_t, 3> kProductExtents = {gemm::kM, gemm::kN, gemm::kK};

/// One shape with its forecast.
struct ProductForecast {
  Prediction prediction;          ///< the tile that the model chose is in its problem
  double flops_per_s = 0;         ///< of the product itself
  std::int64_t blocks = 0;        ///< of the launch that multiplies
  double waves = 0;               ///< of those blocks
  double tile_fill = 1;           ///< share of the tiles' elements that C needs
  std::int64_t vector_bytes = 0;  ///< to which rows of n and of k elements are aligned, at most 16

  double time_s() const { return prediction.time->expected_s; }
};

/// Throws InputError as predict, and where the device has no expected time.
ProductForecast forecast_product(const Question& question);

/// Larger products than the asked one, or smaller ones, no extent changed the other way: multiples
/// of 16 B, of powers of two of that, and of the sides of the kernel's tiles, one extent at a time
/// and the best of each together. What the kernel does not take is left out.
std::vector<ProductForecast> products_near(const Question& asked, const AdviceOptions& options,
                                           bool larger);

/// Where the kernel has such a parameter, its value: "tile_m".
std::optional<std::int64_t> value_named(const KernelRef& kernel, const Problem& problem,
                                        std::string_view parameter);

}  // namespace roofcast
