#include "cli/commands/unread_overrides.hpp"

#include <algorithm>

#include "cli/output/same_forecast.hpp"

namespace roofcast::cli {

std::vector<std::string> unread_overrides(std::span<const Candidate> rows,
                                          std::span<const Gpu> gpus,
                                          std::span<const std::string> devices,
                                          const DeviceOptions& options,
                                          const Assumptions& assumptions) {
  std::vector<std::string> unread;
  for (std::size_t i = 0; i < options.overrides.size(); ++i) {
    DeviceOptions without = options;
    without.overrides.erase(without.overrides.begin() + static_cast<std::ptrdiff_t>(i));
    bool read = false;
    for (std::size_t g = 0; g < gpus.size() && !read; ++g) {
      const Gpu gpu = load_device(devices[g], without);
      read = std::any_of(rows.begin(), rows.end(), [&](const Candidate& row) {
        if (row.gpu != &gpus[g]) return false;
        if (!row.prediction) return true;
        try {
          return !same_forecast(*row.prediction,
                                predict(row.kernel, row.problem, gpu, assumptions));
        } catch (const InputError&) {
          return true;
        }
      });
    }
    if (!read) unread.push_back(options.overrides[i].key);
  }
  return unread;
}

}  // namespace roofcast::cli
