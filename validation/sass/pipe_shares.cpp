#include "validation/sass/pipe_shares.hpp"

#include <algorithm>

namespace roofcast::sass {
namespace {

constexpr double kWarp = 32;

/// SM cycles for the instructions of a warp, at `lanes` per clock.
std::optional<double> cycles(std::int64_t instructions, const std::optional<double>& lanes) {
  if (!lanes || *lanes <= 0) return std::nullopt;
  return static_cast<double>(instructions) * kWarp / *lanes;
}

std::optional<double> halved(const std::optional<double>& rate) {
  return rate ? std::optional(*rate / 2) : std::nullopt;
}

/// Tensor cycles at the rate of each type; nothing if a shape or a rate is not known.
std::optional<double> tensor_cycles(const Mix& mix, const Gpu& gpu) {
  if (mix.unknown_tensor_shape) return std::nullopt;
  double sum = 0;
  for (const DType type : kAllDTypes) {
    const double flops = mix.tensor_flops[type];
    if (flops <= 0) continue;
    const auto& rate = gpu.sm.tensor_flop_per_clk[type];
    if (!rate || *rate <= 0) return std::nullopt;
    sum += flops * kWarp / *rate;
  }
  return sum;
}

std::optional<double> pipe_cycles(Pipe pipe, const Mix& mix, const Gpu& gpu) {
  switch (pipe) {
    case Pipe::fma:  // a fused multiply-add is 2 FLOP
      return cycles(mix[pipe], halved(gpu.sm.vector_flop_per_clk[DType::fp32]));
    case Pipe::alu:
      return cycles(mix[pipe], gpu.sm.integer_per_clk);
    case Pipe::fp64:
      return cycles(mix[pipe], halved(gpu.sm.vector_flop_per_clk[DType::fp64]));
    case Pipe::tensor:
      return tensor_cycles(mix, gpu);
    case Pipe::special:
      return cycles(mix[pipe], gpu.sm.special_per_clk);
    case Pipe::conversion:
      return cycles(mix[pipe], gpu.sm.conversion_per_clk);
    case Pipe::lsu:
      return mix.lsu_cycles;
    case Pipe::uniform:
    case Pipe::branch:
    case Pipe::barrier:
    case Pipe::other:
      return std::nullopt;
  }
  return std::nullopt;
}

/// Share of the pipe's peak that its instructions can reach.
double reachable(Pipe pipe, const Mix& mix, const Gpu& gpu) {
  if (pipe != Pipe::tensor || !mix.tensor_by_warps) return 1;
  return gpu.sm.mma_sync_share.value_or(1);
}

}  // namespace

std::optional<PipeShares> shares_of(const Mix& mix, const Gpu& gpu) {
  const auto& slots = gpu.sm.warp_issue_per_clk;
  if (!slots || *slots <= 0 || mix.instructions == 0) return std::nullopt;
  PipeShares shares;
  shares.issue = static_cast<double>(mix.instructions) / *slots;
  shares.bound = "issue";
  double longest = *shares.issue;
  for (const Pipe pipe : kAllPipes) {
    auto& busy = shares.busy[static_cast<std::size_t>(pipe)];
    busy = pipe_cycles(pipe, mix, gpu);
    if (!busy) continue;
    const double takes = *busy / reachable(pipe, mix, gpu);
    if (takes <= longest) continue;
    longest = takes;
    shares.bound = name(pipe);
  }
  for (auto& busy : shares.busy) {
    if (busy) *busy /= longest;
  }
  *shares.issue /= longest;
  return shares;
}

}  // namespace roofcast::sass
