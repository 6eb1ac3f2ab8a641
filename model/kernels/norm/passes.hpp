#pragma once
// Parts that the plans of the forward (norm.cpp) and of the backward pass share.
#include <cstdint>

#include "model/kernels/common/plan_parts.hpp"
#include "model/kernels/compiled.hpp"
#include "model/kernels/norm/norm.hpp"

namespace roofcast::norm {

enum class Kind : unsigned char { layernorm, rmsnorm };  // as in kernels/norm/norm.cuh

/// What the two kinds do for each element, counted in the kernels' source, and for each row.
struct Counts {
  double parameters;      ///< γ, and β; of each row as many fp32 statistics: r, and μ
  double forward_flops;   ///< Σ, centre, square | centre, scale, γ and β
  double backward_flops;  ///< x̂, dγ, dβ, g, two sums, dx
};
constexpr Counts counts_of(Kind kind) {
  return kind == Kind::layernorm ? Counts{2, 8, 14} : Counts{1, 4, 11};
}

enum : ArrayId { kX, kParameterArrays, kStatistics, kResult, kDy, kPartials, kGradients };

/// Throws InputError where the kernels cannot run it; `most`: vectors a thread may hold.
void check_layout(const Problem& p, const rows::Layout& layout, std::int64_t most);

/// Bytes of shared memory for the parts of two rows from each warp, of all blocks of a cluster.
constexpr std::int64_t parts_bytes(bool clustered) {
  constexpr std::int64_t kPart = 8, kRows = 2;
  return kRows * kPart * (kMostThreads / rows::kWarp) * (clustered ? rows::kMaxCluster : 1);
}

/// Notes why the sectors moved hold more bytes than were asked for.
void add_sector_reason(Plan& plan);

/// dx with the strips' partial dγ and dβ, then the launch that sums those.
LaunchSequence plan_backward(Kind kind, const Problem& p, const Gpu& gpu);

}  // namespace roofcast::norm
