#pragma once
#include "model/kernels/common/rows.hpp"

namespace roofcast::norm {

enum class Kind : unsigned char { layernorm, rmsnorm };

/// Positions in Problem after the shape.
enum Parameter : std::size_t { kPass = 2, kVectors, kCluster, kRowsPerCluster, kStaging };
/// Where rows arrive: in registers, or with bulk copies in shared memory, a row ahead.
enum Staging : std::int64_t { kChosen, kInRegisters, kInShared };

/// ε, added to the variance (layernorm) or mean square before the root: the frameworks' default.
inline constexpr double kEpsilon = 1e-5;

/// Most threads of a block: with two blocks on an SM each thread has 64 registers.
inline constexpr std::int64_t kMostThreads = 512;
/// Columns of a thread of the backward pass, each with x, dy, γ, two sums, and the next x and dy.
inline constexpr std::int64_t kBackwardElements = 8;

/// Whether rows stream through shared memory, for addresses as cudaMalloc returns them.
constexpr bool is_streamed(const Problem& p) {
  return p[kStaging] == kInShared;
}

/// Whether bulk copies can take the rows: all begin at multiples of 16 bytes.
constexpr bool rows_are_aligned(const Problem& p) {
  return rows::row_bytes(p) % rows::kVectorBytes == 0;
}

/// Where the forward pass streams: 16-byte accesses of a thread, and bytes of a row in a block, for
/// 256 threads. Rows too long for a cluster of such blocks take more threads.
inline constexpr std::int64_t kForwardRingVectors = 8;
inline constexpr std::int64_t kForwardRingSliceBytes =
    256 * kForwardRingVectors * rows::kVectorBytes;

/// Layout of the forward pass: a row or a block's slice of it is in registers or in rings.
constexpr rows::Layout forward_layout(const Problem& p) {
  const auto layout = is_streamed(p) ? rows::ring_layout : rows::held_layout;
  return layout(rows::vectors_of(p), p[kVectors], p[kCluster], p[kRowsPerCluster]);
}

/// Dynamic shared memory of the forward pass: rings of one buffer per warp, and the block's columns
/// of `parameters` arrays (γ, β). Where registers hold rows: the arrays alone, if there is room.
constexpr std::int64_t forward_bytes(const Problem& p, std::int64_t parameters) {
  const rows::Layout layout = forward_layout(p);
  const std::int64_t kept = parameters * layout.vectors * layout.threads * rows::kVectorBytes;
  if (is_streamed(p)) return rows::ring_bytes(layout, 1, 1) + kept;
  const bool in_turn = layout.rows_per_cluster > 1 || layout.cluster > 1;
  const bool has_room = 2 * layout.vectors <= rows::most_vectors(p.dtype);
  return in_turn && has_room && rows_are_aligned(p) ? kept : 0;
}

/// The backward pass in registers: each thread keeps its columns over all rows of a strip.
constexpr rows::Layout backward_layout(const Problem& p) {
  const std::int64_t width = rows::kVectorBytes / element_bytes(p.dtype);
  const std::int64_t held = kBackwardElements / width;
  const std::int64_t row = ceil_div(p[rows::kCols], width);
  return rows::held_layout(row, held, rows::cluster_for(row, held * kMostThreads));
}

/// Blocks (or clusters) of the backward pass in registers: those resident at once, a strip each.
constexpr std::int64_t backward_blocks(const Problem& p, const rows::Layout& layout,
                                       std::int64_t sm_count) {
  constexpr std::int64_t kThreadsPerSm = 640;  // at up to 96 registers
  const std::int64_t per_sm =
      std::max<std::int64_t>(1, kThreadsPerSm / (layout.threads * layout.rows_per_block));
  const std::int64_t at_once = std::max<std::int64_t>(1, per_sm * sm_count / layout.cluster);
  return std::min(at_once, ceil_div(p[rows::kRows], layout.rows_per_block));
}

/// Where the backward pass streams: columns of a thread, and buffers of a warp.
inline constexpr std::int64_t kRingElements = 16;
inline constexpr std::int64_t kRingStages = 2;

/// The backward pass through rings: blocks of 128 threads, of which several fit an SM, where a
/// cluster of 8 holds the row; else larger blocks.
constexpr rows::Layout backward_ring_layout(const Problem& p) {
  constexpr std::int64_t kFewThreads = 128, kPortableCluster = 8;
  const std::int64_t cluster =
      std::min(kPortableCluster, rows::cluster_for(p[rows::kCols], kFewThreads * kRingElements));
  return rows::ring_layout(rows::vectors_of(p),
                           kRingElements * element_bytes(p.dtype) / rows::kVectorBytes, cluster);
}

/// Blocks (or clusters) of the streaming backward pass: those resident at once with 512 threads of
/// 128 registers per SM. Clusters of 4 or 8 leave SMs idle in each GPC of 16 or 18: on 132 SMs
/// there is room for 15 of 16 clusters, by cudaOccupancyMaxActiveClusters.
constexpr std::int64_t backward_ring_blocks(const Problem& p, std::int64_t sm_count) {
  const rows::Layout layout = backward_ring_layout(p);
  const std::int64_t slots = std::max<std::int64_t>(1, kMostThreads / layout.threads) * sm_count;
  const std::int64_t at_once =
      layout.cluster > 2 ? slots * 15 / 16 / layout.cluster : slots / layout.cluster;
  return std::min(std::max<std::int64_t>(1, at_once), p[rows::kRows]);
}

/// The second launch of the backward pass: columns of a block, and threads that share a column.
inline constexpr std::int64_t kFinishColumns = 32;
inline constexpr std::int64_t kFinishThreads = 32;

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

/// Throws InputError where the kernels cannot run the layout.
void check_layout(const Problem& p, const rows::Layout& layout);

/// Bytes of shared memory for the partial results of two rows from each warp of a block or cluster.
constexpr std::int64_t parts_bytes(bool clustered) {
  constexpr std::int64_t kPart = 8, kRows = 2;
  return kRows * kPart * (kMostThreads / rows::kWarp) * (clustered ? rows::kMaxCluster : 1);
}

/// Adds a note where the sectors moved hold more bytes than are asked for.
void add_sector_reason(Plan& plan);

/// The backward pass: a launch for dx and the strips' partial dγ and dβ, and one that sums these.
LaunchSequence plan_backward(Kind kind, const Problem& p, const Gpu& gpu);

extern const KernelFamily kFamily;

}  // namespace roofcast::norm
