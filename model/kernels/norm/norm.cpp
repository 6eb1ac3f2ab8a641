#include "model/kernels/norm/norm.hpp"

#include <array>
#include <vector>

#include "model/kernels/norm/passes.hpp"
#include "model/libraries/rows.hpp"

namespace roofcast::norm {
namespace {

template <Kind kKind>
LaunchSequence plan(const Problem& p, const Gpu& gpu) {
  return p[kPass] == kForward ? plan_forward(kKind, p) : plan_backward(kKind, p, gpu);
}

// Vectors a thread to try where rows are in registers. Several rows in turn are compiled for half
// of the most, in clusters for all of them too.
std::vector<std::int64_t> vectors_of(const Problem& p) {
  const std::int64_t most = most_vectors(p), half = most / 2;
  const std::int64_t slice =
      ceil_div(rows::vectors_of(p[rows::kCols], element_bytes(p)), p[kCluster]);
  if (p[kVectors] != 0 || (p[kCluster] == 1 && p[kRowsPerCluster] == 1)) {
    return rows::held_vectors(p[kVectors], slice, most, kMostThreads);
  }
  if (p[kCluster] == 1) return {half};
  return rows::powers_of_two(0, slice > half * kMostThreads ? most : half, most);
}

std::vector<Problem> candidates(const Problem& p, const Gpu& gpu) {
  const std::int64_t asked = p[kStaging], cols = p[rows::kCols], element = element_bytes(p);
  const bool can_stream = gpu.features.has(Instruction::bulk_copy) && rows_are_aligned(p) &&
                          (p[kVectors] == 0 || p[kVectors] == kForwardRingVectors);
  std::vector<std::int64_t> stagings;
  if (asked != kInShared) stagings.push_back(kInRegisters);
  if (asked == kInShared || (asked == kChosen && can_stream)) stagings.push_back(kInShared);
  std::vector<Problem> staged = rows::with_each({p}, kStaging, stagings);
  if (p[kPass] == kBackward) return staged;
  std::vector<Problem> found;
  for (const Problem& one : staged) {
    const bool streams = one[kStaging] == kInShared;
    const std::int64_t smallest =
        streams
            ? rows::cluster_for(cols * element, kForwardRingSliceBytes)
            : rows::cluster_for(rows::vectors_of(cols, element), most_vectors(p) * kMostThreads);
    for (Problem& shared : rows::with_clusters(one, {kCluster, kRowsPerCluster}, smallest, gpu)) {
      const std::vector<std::int64_t> vectors = !streams ? vectors_of(shared)
                                                : p[kVectors] != 0
                                                    ? std::vector{p[kVectors]}
                                                    : std::vector{kForwardRingVectors};
      for (const std::int64_t each : vectors) {
        shared[kVectors] = each;
        found.push_back(shared);
      }
    }
  }
  return found;
}

constexpr std::array<std::string_view, 2> kPasses = {"forward", "backward"};
constexpr std::array<std::string_view, 3> kStagings = {"fastest", "registers", "shared"};
constexpr roofcast::Parameter kStagingSetting = {
    "staging", "where rows arrive: in registers, or with bulk copies in shared memory, a row ahead",
    0,         kInShared,
    kChosen,   true,
    kStagings};
constexpr std::array kParameters = with_own(
    rows::kShape,
    choice("pass", "forward; or backward, from x, dy and the forward pass's statistics", kPasses,
           kForward),
    setting("vectors", "16-byte accesses a thread holds, forward: 1, 2, 4, 8; 0: the fastest", 0, 8,
            0),
    setting("cluster", "blocks that share a row, forward: 1, 2, 4, 8, 16; 0: the fastest", 0, 16,
            0),
    setting("rows_per_cluster", "rows a block takes one after the other, forward; 0: the fastest",
            0, 1024, 0),
    kStagingSetting);

constexpr std::array<KernelModel, 3> kVariants = {{
    with_candidates(
        {"norm.layernorm", "by mean and variance, with γ and β: the row in registers, read once",
         kParameters, rows::kTypes, plan<Kind::layernorm>},
        candidates),
    with_candidates(
        {"norm.rmsnorm", "by the root mean square, with γ: the row in registers, read once",
         kParameters, rows::kTypes, plan<Kind::rmsnorm>},
        candidates),
    kLibrary,
}};

}  // namespace

void add_sector_reason(Plan& plan) {
  const Work issued = issued_by_launch(plan);
  if (issued.l1.total_bytes() > 1.01 * issued.requested.total_bytes()) {
    plan.notes.traffic_reasons.push_back(
        {Level::l1, "rows that do not begin on a sector, and one value a row for the statistics"});
  }
}

void check_streams(const Problem& p) {
  require(rows_are_aligned(p), "rows of ", p[rows::kCols],
          " elements are no multiple of 16 bytes, as bulk copies need: use staging registers");
}

void check_layout(const Problem& p, const rows::Layout& layout, std::int64_t most) {
  rows::check_vectors(layout.vectors, most);
  rows::check_cluster(layout.cluster);
  require(layout.threads <= kMostThreads, "a row of ", p[rows::kCols],
          " elements does not fit the registers of ", layout.cluster,
          " blocks: use a larger cluster (at most 16) or shorter rows");
}

constinit const KernelFamily kFamily = {"norm",      "y = γ·(x - μ)·r + β, a row at a time",
                                        kParameters, rows::kTypes,
                                        nullptr,     streaming,
                                        kVariants,   rows::kValidated};

}  // namespace roofcast::norm
