#pragma once
#include <algorithm>
#include <cmath>
#include <optional>
#include <span>

namespace roofcast {

/// Time of parts that overlap imperfectly: the p-norm, between their maximum (p → ∞) and their sum
/// (p = 1). p is calibrated; without a calibration parts are taken to overlap well.
class Overlap {
 public:
  explicit Overlap(std::optional<double> exponent) : p_(exponent.value_or(kDefault)) {}

  double operator()(std::span<const double> parts) const {
    const double largest = *std::max_element(parts.begin(), parts.end());
    if (largest <= 0) return 0;
    double sum = 0;
    for (const double part : parts) {
      // A part under 5% of the largest adds less than 1 in 10⁴ at p ≥ 3: not worth a power.
      if (part > 0.05 * largest) sum += part == largest ? 1 : std::pow(part / largest, p_);
    }
    return sum == 1 ? largest : largest * std::pow(sum, 1 / p_);
  }

 private:
  static constexpr double kDefault = 4;
  double p_;
};

}  // namespace roofcast
