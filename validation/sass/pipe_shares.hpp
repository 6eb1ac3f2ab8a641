#pragma once
// What fraction of each pipe's peak a piece of code can reach at best.
#include <array>
#include <optional>
#include <string_view>

#include "model/types/gpu.hpp"
#include "validation/sass/mix.hpp"

namespace roofcast::sass {

struct PipeShares {
  /// Of the time that the busiest takes, by pipe; absent where the GPU's rate is not known.
  std::array<std::optional<double>, kAllPipes.size()> busy{};
  std::optional<double> issue;  ///< of the slots in which an instruction can be issued
  std::string_view bound;       ///< the pipe that takes longest, or "issue"

  const std::optional<double>& operator[](Pipe pipe) const {
    return busy[static_cast<std::size_t>(pipe)];
  }
};

/// With enough warps that no latency shows: each pipe at its rate, each scheduler an instruction a
/// clock. Nothing where the GPU's file has no issue rate.
std::optional<PipeShares> shares_of(const Mix& mix, const Gpu& gpu);

}  // namespace roofcast::sass
