#pragma once
#include <array>
#include <optional>

#include "model/laws/overlap.hpp"
#include "model/types/gpu.hpp"
#include "model/types/plan.hpp"
#include "model/types/prediction.hpp"

namespace roofcast {

/// Cycles per resource.
using CyclesByResource = std::array<double, kResources>;

/// The measured rate where there is one, else the datasheet's.
std::optional<double> rate(const std::optional<double>& sustained,
                           const std::optional<double>& datasheet);

/// Cycles each pipe of an SM is busy with one block's step. Issue: if no slot stayed empty.
CyclesByResource pipe_cycles(const Step& step, DType compute, const Gpu& gpu);

/// Share of the issue slots that warps keep filled. Each warp has an instruction ready with some
/// chance, so more of them leave fewer slots empty: what is lost falls as 1 ÷ warps from what eight
/// warps lose.
double issue_efficiency(double resident_warps, const Gpu& gpu);

/// Cycles of the SM for work of so many cycles of each pipe, which overlap imperfectly.
double busy_cycles(const CyclesByResource& pipes, const Overlap& overlap);

/// How well the pipes overlap. Few warps seldom have work for two pipes at once: p - 1 grows with
/// their number, from what eight warps reach.
Overlap pipe_overlap(double resident_warps, const Gpu& gpu);

}  // namespace roofcast
