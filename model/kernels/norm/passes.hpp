#pragma once
// What the plans of the forward and of the backward pass share.
#include <array>
#include <cstdint>
#include <vector>

#include "model/kernels/common/plan_parts.hpp"
#include "model/kernels/compiled.hpp"
#include "model/kernels/norm/norm.hpp"

namespace roofcast::norm {

enum class Kind : unsigned char { layernorm, rmsnorm };  // as in kernels/norm/norm.cuh

constexpr bool narrow(const Problem& p) {
  return element_bytes(p) == 2;
}

/// What the two kinds do for each element, counted in the kernels' source, and for each row.
struct Counts {
  double parameters;      ///< γ, and β
  double statistics;      ///< fp32 values a row: μ, r
  double forward_flops;   ///< Σ, centre, square | centre, scale, γ and β
  double backward_flops;  ///< x̂, dγ, dβ, g, two sums, dx
};
const Counts& counts_of(Kind kind);

/// How a pass runs, which its instructions depend on.
enum class Form : unsigned char {
  one_row,
  in_turn,
  streamed,
  backward,
  backward_streamed,
  backward_by_element
};
const rows::Instructions& instructions_of(Form form, Kind kind, const Problem& p);

/// Of the second launch of the backward pass: an estimate from the PTX.
inline constexpr double kInstructionsPerThread = 80;
inline constexpr double kShufflesOfWarp = 10;
/// Stores to the other blocks that a barrier of the cluster follows go there before it begins, and
/// its answer comes back. Where mbarriers count the stores one way is enough.
inline constexpr double kExchangesOfBarrier = 2;

enum : ArrayId { kX, kParameterArrays, kStatistics, kResult, kDy, kPartials, kGradients };

/// KernelModel::candidates of both kinds.
std::vector<Problem> candidates(const Problem& p, const Gpu& gpu);

/// Throws InputError where rows cannot stream through shared memory.
void check_streams(const Problem& p);
/// Throws InputError where the kernels cannot run it; `most`: vectors a thread may hold.
void check_layout(const Problem& p, const rows::Layout& layout, std::int64_t most);

/// Notes why the sectors moved hold more bytes than were asked for.
void add_sector_reason(Plan& plan);

LaunchSequence plan_forward(Kind kind, const Problem& p);
/// dx with the strips' partial dγ and dβ, then the launch that sums those.
LaunchSequence plan_backward(Kind kind, const Problem& p, const Gpu& gpu);

}  // namespace roofcast::norm
