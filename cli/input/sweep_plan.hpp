#pragma once
// What a sweep asks: for each kernel its types, and the values of each parameter.
#include <cstddef>
#include <functional>
#include <vector>

#include "cli/input/kernel_options.hpp"
#include "cli/input/sweep_axis.hpp"
#include "model/roofcast.hpp"

namespace roofcast::cli {

/// One kernel's part of the sweep: its types, and an axis for each parameter given.
struct KernelSweep {
  KernelRef kernel;
  std::vector<DType> dtypes;
  std::vector<Axis> axes;
  std::vector<std::size_t> positions;  ///< of each axis in the kernel's parameters
  Problem constants;                   ///< holds the text, where a parameter is one
  unsigned given = 0;
};

/// Throws UsageError for a parameter without a value and as parse_axis does.
KernelSweep plan_sweep(const KernelRef& kernel, const Options& options);

/// Calls `visit` with the problem of every point, not yet checked: types first, the last axis
/// fastest. `repeats`: how many such walks the sweep takes in all, for the limit of its points.
void walk(const KernelSweep& sweep, std::size_t repeats,
          const std::function<void(const Problem&)>& visit);

}  // namespace roofcast::cli
