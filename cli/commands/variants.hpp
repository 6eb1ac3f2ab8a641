#pragma once
// A family's answer, which has its variants' beside it.
#include <vector>

#include "cli/output/answer.hpp"
#include "model/roofcast.hpp"

namespace roofcast::cli {

/// The answer for one kernel on one device; for a family also each variant's.
struct Answered {
  Candidate itself;
  std::vector<Candidate> variants;

  /// A family may have no limit of its own: then a variant answers for it.
  bool refused() const;
};

/// Forecasts a problem whose values are all given. The variants' shape is the family's; their
/// configuration is the default one. What has no forecast has its refusal; nothing is thrown.
Answered answered(const KernelRef& kernel, const Problem& problem, const Gpu& gpu,
                  const Assumptions& assumptions);

}  // namespace roofcast::cli
