#pragma once
// What `advise` answers to one checked question.
#include <string>
#include <vector>

#include "cli/output/advice_output.hpp"

namespace roofcast::cli {

/// How far advice may go, for whichever kernel is asked about.
struct AdviceRequest {
  double within = 0.05;                            ///< of each extent
  std::optional<std::vector<std::string>> varied;  ///< parameters by name; absent: all of them
  bool smaller = true;                             ///< also shapes that leave something out
};

/// Settings and shapes of a kernel. Of a family each variant with its fastest settings, and the
/// advice on the fastest. Throws InputError as predict, and UsageError for a varied parameter that
/// the kernel does not have.
AdviceAnswer advice_on(const KernelRef& kernel, const Problem& problem, const Gpu& gpu,
                       const Assumptions& assumptions, const AdviceRequest& request);

}  // namespace roofcast::cli
