#pragma once
// Shapes near a matrix product's, or a linear layer's, at which it is forecast to do better.
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "model/advice.hpp"
#include "model/kernels/gemm/gemm.hpp"

namespace roofcast {

/// More work is free if it adds at most this share of the time that it would add in proportion, and
/// less than this share of the whole time.
inline constexpr double kFreeShare = 0.1;
inline constexpr double kFreeTime = 0.01;

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

struct ProductAdvice {
  AdviceKind kind = AdviceKind::faster;
  ProductForecast product;
  double time_change = 0;   ///< against the shape asked for: -0.1 is 10% less
  double rate_change = 0;   ///< of FLOP/s: 0.1 is 10% more
  double weight_bytes = 0;  ///< that B grows by: padded k and n take memory
  std::string why;          ///< alignment, tiles, waves and how full they are: what is better
};

struct Advised {
  ProductForecast asked;
  /// By kind, the best first. Of faster and smaller ones, a shape that changes more than another is
  /// named only where it gains kWorthNaming more; room inside larger room is not named.
  std::vector<ProductAdvice> shapes;
};

/// Advice for a kernel of the family gemm; settings left to choose are chosen for each shape. Tried
/// are multiples of 16 B, of powers of two of that, and of the sides of the kernel's tiles. Throws
/// InputError as predict, for another family, and where the device has no expected time.
Advised advise_product(const Question& question, const AdviceOptions& options);

/// Throws InputError for a device without expected times.
void require_time(const Prediction& prediction, const Gpu& gpu);

/// Where the kernel has such a parameter, its value: "tile_m".
std::optional<std::int64_t> value_named(const KernelRef& kernel, const Problem& problem,
                                        std::string_view parameter);

/// Y[tokens,out] = X[tokens,in] · Wᵀ with W [out,in].
struct LinearLayer {
  std::int64_t tokens = 1, in = 1, out = 1;
  friend constexpr bool operator==(const LinearLayer&, const LinearLayer&) = default;
};

enum class LayerProduct : unsigned char {
  output,           ///< Y = X · Wᵀ: m = tokens, n = out, k = in; nt
  input_gradient,   ///< dX = dY · W: m = tokens, n = in, k = out; nn
  weight_gradient,  ///< dW = dYᵀ · X: m = out, n = in, k = tokens; tn
};
inline constexpr std::array kLayerProducts = {LayerProduct::output, LayerProduct::input_gradient,
                                              LayerProduct::weight_gradient};
constexpr std::string_view name(LayerProduct product) {
  constexpr std::array<std::string_view, kLayerProducts.size()> names = {"Y = X W^T", "dX = dY W",
                                                                         "dW = dY^T X"};
  return names[static_cast<std::size_t>(product)];
}

struct LayerForecast {
  LinearLayer layer;
  std::array<Prediction, kLayerProducts.size()> products;  ///< in the order of kLayerProducts
  double time_s() const;                                   ///< of all three, one after the other
};

struct LayerAdvice {
  LayerForecast asked;
  /// Layers that hold the asked one and take at least 3% less time (kWorthNaming), the fastest
  /// first; of two the one that adds more is named only where it gains that much more.
  std::vector<LayerForecast> padded;
};

/// The products are gemm.library's, operands as the layer leaves them. Tokens stay; in and out are
/// padded to multiples of 8 to 256. Throws InputError as predict does.
LayerAdvice advise_layer(const LinearLayer& layer, DType dtype, const Gpu& gpu,
                         const Assumptions& assumptions);

}  // namespace roofcast
