#pragma once
// The three products of a linear layer, as training computes them, and sizes at which they take
// less time.
#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "model/predict.hpp"
#include "model/types/prediction.hpp"

namespace roofcast {

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
