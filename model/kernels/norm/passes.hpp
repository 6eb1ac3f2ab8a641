#pragma once
// Parts that the plans of the forward pass (norm.cpp) and of the backward pass share.
#include <cstdint>

#include "model/kernels/common/plan_parts.hpp"
#include "model/kernels/compiled.hpp"
#include "model/kernels/norm/norm.hpp"

namespace roofcast::norm {

enum class Kind : unsigned char { layernorm, rmsnorm };  // as in kernels/norm/norm.cuh

/// Counts of the two kinds, FLOPs from the kernels' source.
struct Counts {
  double parameters;      ///< arrays γ and β; equals the fp32 statistics of a row, r and μ
  double forward_flops;   ///< an element: Σ, centre, square | centre, scale, γ and β
  double backward_flops;  ///< an element: x̂, dγ, dβ, g, two sums, dx
};
constexpr Counts counts_of(Kind kind) {
  return kind == Kind::layernorm ? Counts{2, 8, 14} : Counts{1, 4, 11};
}

enum : ArrayId { kX, kParameterArrays, kStatistics, kResult, kDy, kPartials, kGradients };

/// Throws InputError where the kernels cannot run the layout; `most`: vectors a thread may hold.
void check_layout(const Problem& p, const rows::Layout& layout, std::int64_t most);

/// Bytes of shared memory for the partial results of two rows from each warp of a block or cluster.
constexpr std::int64_t parts_bytes(bool clustered) {
  constexpr std::int64_t kPart = 8, kRows = 2;
  return kRows * kPart * (kMostThreads / rows::kWarp) * (clustered ? rows::kMaxCluster : 1);
}

/// Adds a note where the sectors moved hold more bytes than are asked for.
void add_sector_reason(Plan& plan);

/// The backward pass: a launch for dx and the strips' partial dγ and dβ, and one that sums these.
LaunchSequence plan_backward(Kind kind, const Problem& p, const Gpu& gpu);

}  // namespace roofcast::norm
