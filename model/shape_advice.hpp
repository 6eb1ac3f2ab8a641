#pragma once
// Shapes near the one asked for at which any kernel is forecast to do better.
#include <cstddef>
#include <string>
#include <vector>

#include "model/advice.hpp"

namespace roofcast {

struct ShapeAdvice {
  AdviceKind kind = AdviceKind::faster;  ///< faster or smaller
  Prediction prediction;
  double time_change = 0;  ///< against the shape asked for: -0.1 is 10% less
  double rate_change = 0;  ///< of FLOP/s, of compulsory bytes a second where nothing is computed
  std::string why;         ///< waves, alignment, bound: what is better
};

/// Positions of the parameters that are sizes: no settings, no names.
std::vector<std::size_t> extents_of(const KernelRef& kernel);

/// Larger shapes that take less time, and smaller ones with a higher rate, each by kWorthNaming or
/// more, and by as much against those that change less. Tried are multiples of powers of two up to
/// 256, one extent at a time and the best few of each together; multiples of up to 8 always are in
/// reach. Settings stay as the problem has them. Throws InputError where the device has no expected
/// time.
std::vector<ShapeAdvice> advise_shapes(const Question& question, const AdviceOptions& options);

/// What one call is useful for, a second: FLOPs, or compulsory bytes where nothing is computed.
double useful_rate(const Prediction& prediction);

}  // namespace roofcast
