#pragma once
// The answer of `advise` to one checked question.
#include <string>
#include <vector>

#include "cli/output/advice_output.hpp"

namespace roofcast::cli {

/// What advice may change in the shape and settings of any kernel.
struct AdviceRequest {
  double within = 0.05;  ///< largest relative change of an extent; alignment may exceed it
  std::optional<std::vector<std::string>> varied;  ///< parameters by name; absent: all of them
  bool smaller = true;                             ///< also smaller shapes
};

/// Advice on the settings and shapes of a kernel. For a family it forecasts each variant with its
/// fastest settings and advises on the fastest variant. Throws InputError as predict, and
/// UsageError for a varied parameter that the kernel does not have.
AdviceAnswer advice_on(const KernelRef& kernel, const Problem& problem, const Gpu& gpu,
                       const Assumptions& assumptions, const AdviceRequest& request);

}  // namespace roofcast::cli
