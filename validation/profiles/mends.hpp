#pragma once
// Changes that would shorten the time of a profile's work.
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "model/types/gpu.hpp"
#include "validation/profiles/trace.hpp"

namespace roofcast::validation {

struct CallGroup;

/// A change and the time that it alone is forecast to save.
struct Mend {
  std::string what;
  double saved_s = 0;
  std::int64_t calls = 0;      ///< number of calls that it changes
  double total_after_s = 0;    ///< busy time with the change; span if it saves waiting
  bool saves_waiting = false;  ///< it saves time between kernels, not in them
  std::map<std::size_t, double> saved_by_group_s{};  ///< kernel time saved, by index of the group
};

/// All changes, the largest saving first, without those that round to 0.0% of the time. `groups`
/// are in the order of trace.calls. The saving of a product or attention is the measured time − the
/// forecast of the changed kernel; that of a chain, measured time × (1 − forecast of the fused
/// kernel ÷ forecast of the chain).
std::vector<Mend> mends_of(const Trace& trace, const std::vector<CallGroup>& groups,
                           const Gpu& gpu);

/// Kernel time (s) that all changes save: for each group the largest saving.
double saved_together_s(const std::vector<Mend>& mends);

}  // namespace roofcast::validation
