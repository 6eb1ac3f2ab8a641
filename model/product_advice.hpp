#pragma once
// Shapes near a matrix product's at which the same kernel is forecast to do better.
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "model/product_search.hpp"

namespace roofcast {

/// A forecast gain of less is noise. Of products that differ by one in m, published measurements
/// (gemm_tensor.csv, ai-dynamo/aiconfigurator, bf16, m from 33) differ by up to 9% to either side
/// where the forecasts are equal, in 8 of 10 pairs; from a forecast of 3% on, the one forecast
/// faster was faster in 93 of 120 pairs. Two collections of the same products differ
/// by about 3% too.
inline constexpr double kWorthNaming = 0.03;
/// More work is free if it adds at most this share of the time that it would add in proportion, and
/// less than this share of the whole time.
inline constexpr double kFreeShare = 0.1;
inline constexpr double kFreeTime = 0.01;

struct AdviceOptions {
  Reach reach;
  bool smaller = true;   ///< also shapes that leave something out
  std::size_t most = 5;  ///< shapes of a kind
};

enum class AdviceKind : unsigned char {
  faster,   ///< holds the asked shape, zeros added, and takes less time
  smaller,  ///< part of the asked shape, with a higher rate
  room      ///< holds the asked shape, or the best faster one, at no more time
};
inline constexpr std::array kAdviceKinds = {AdviceKind::faster, AdviceKind::smaller,
                                            AdviceKind::room};
constexpr std::string_view name(AdviceKind kind) {
  constexpr std::array<std::string_view, kAdviceKinds.size()> names = {"faster", "smaller", "free"};
  return names[static_cast<std::size_t>(kind)];
}

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

/// Advice for a kernel of the family gemm and a checked problem; settings left to choose are chosen
/// for each shape. Throws InputError as forecast_product, and for another family.
Advised advise_product(const KernelRef& kernel, const Problem& problem, const Gpu& gpu,
                       const Assumptions& assumptions, const AdviceOptions& options);

}  // namespace roofcast
