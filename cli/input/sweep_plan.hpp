#pragma once
// The points of a sweep: for each kernel its types, and the values of each parameter.
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
  std::vector<std::size_t> positions;  ///< position of each axis in the kernel's parameters
  Problem constants;                   ///< the problem's text, if a parameter is one
  unsigned given = 0;
};

/// Reads the options. UsageError for a required parameter without a value; throws as parse_axis.
KernelSweep plan_sweep(const KernelRef& kernel, const Options& options);

/// Calls `visit` with the problem of every point, not yet checked: type by type, the last axis
/// fastest. `repeats` counts the passes over the axes in all of the sweep, for the limit of points.
void walk(const KernelSweep& sweep, std::size_t repeats,
          const std::function<void(const Problem&)>& visit);

}  // namespace roofcast::cli
