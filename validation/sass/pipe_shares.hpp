#pragma once
// The largest share of each pipe's peak that a piece of code can reach.
#include <array>
#include <optional>
#include <string_view>

#include "model/types/gpu.hpp"
#include "validation/sass/mix.hpp"

namespace roofcast::sass {

struct PipeShares {
  /// Busy time of each pipe ÷ time of the bound; absent if the GPU's rate is not known.
  std::array<std::optional<double>, kAllPipes.size()> busy{};
  std::optional<double> issue;  ///< share of the issue slots
  std::string_view bound;       ///< the pipe that takes longest, or "issue"

  const std::optional<double>& operator[](Pipe pipe) const {
    return busy[static_cast<std::size_t>(pipe)];
  }
};

/// Shares with enough warps to hide all latency, each pipe at its peak rate and the schedulers at
/// the GPU's issue rate. Nothing if the GPU's file has no issue rate.
std::optional<PipeShares> shares_of(const Mix& mix, const Gpu& gpu);

}  // namespace roofcast::sass
