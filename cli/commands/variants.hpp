#pragma once
// The answer for a kernel, or for a family with its variants.
#include <vector>

#include "cli/output/answer.hpp"
#include "model/roofcast.hpp"

namespace roofcast::cli {

/// A forecast of the problem, or the reason why there is none; no InputError is thrown. `given`
/// marks the values that the problem gives, as for check().
Candidate forecast(const KernelRef& kernel, const Problem& problem, unsigned given, const Gpu& gpu,
                   const Assumptions& assumptions);

/// The answer for one kernel on one device; for a family also that of each variant.
struct Answered {
  Candidate itself;
  std::vector<Candidate> variants;

  /// Whether neither the kernel or family itself nor any variant has a forecast.
  bool refused() const;
};

/// Forecasts a problem whose values are all given. Variants have the family's shape and their
/// default settings. A row without a forecast has its refusal; no InputError is thrown.
Answered answered(const KernelRef& kernel, const Problem& problem, const Gpu& gpu,
                  const Assumptions& assumptions);

}  // namespace roofcast::cli
