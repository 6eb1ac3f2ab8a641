#pragma once
// Shapes near a matrix product's at which the same kernel is forecast to do better.
#include <string>
#include <vector>

#include "model/advice.hpp"
#include "model/product_search.hpp"

namespace roofcast {

/// More work is free if it adds at most this share of the time that it would add in proportion, and
/// less than this share of the whole time.
inline constexpr double kFreeShare = 0.1;
inline constexpr double kFreeTime = 0.01;

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

/// Advice for a kernel of the family gemm; settings left to choose are chosen for each shape.
/// Throws InputError as forecast_product, and for another family.
Advised advise_product(const Question& question, const AdviceOptions& options);

}  // namespace roofcast
