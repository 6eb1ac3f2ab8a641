#pragma once
// What would make a profile's work take less time.
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "model/types/gpu.hpp"
#include "validation/profiles/trace.hpp"

namespace roofcast::validation {

struct CallGroup;

/// One change, and the time that it is forecast to save by itself.
struct Mend {
  std::string what;
  double saved_s = 0;
  std::int64_t calls = 0;      ///< that it changes
  double total_after_s = 0;    ///< of the kernels; of launches in a graph, of the whole profile
  bool saves_waiting = false;  ///< between kernels, not of them
  std::map<std::size_t, double> saved_by_group_s{};  ///< of kernels
};

/// The largest saving first, without those that round to 0.0% of the time. `groups` stand in the
/// order of trace.calls. Savings of products are against the forecast of the changed one; those of
/// chains take the measured time in proportion to forecasts.
std::vector<Mend> mends_of(const Trace& trace, const std::vector<CallGroup>& groups,
                           const Gpu& gpu);

/// Of kernels, by all mends: of those that change the same kernels the largest.
double saved_together_s(const std::vector<Mend>& mends);

}  // namespace roofcast::validation
