// The settings of the normalization kernels that are worth a forecast.
#include "model/kernels/norm_passes.hpp"

namespace roofcast::norm {
namespace {

Problem with(const Problem& p, Staging staging, std::int64_t vectors, std::int64_t cluster,
             std::int64_t in_turn) {
  Problem one = p;
  one[kStaging] = staging;
  one[kVectors] = vectors;
  one[kCluster] = cluster;
  one[kRowsPerCluster] = in_turn;
  return one;
}

void add_held(std::vector<Problem>& found, const Problem& p, const Gpu& gpu) {
  const std::int64_t most = most_vectors(p), least_shared = std::max<std::int64_t>(1, most / 2);
  const std::int64_t row =
      std::max<std::int64_t>(1, rows::vectors_of(p[rows::kCols], element_bytes(p)));
  const std::int64_t rows = p[rows::kRows];
  const std::int64_t smallest = rows::cluster_for(row, most * kMostThreads);
  for (const std::int64_t cluster : rows::clusters(p[kCluster], smallest, rows, gpu)) {
    const std::int64_t slice = rows::ceil_div(row, cluster);
    for (std::int64_t vectors : rows::held_vectors(p[kVectors], slice, most, kMostThreads)) {
      for (const std::int64_t in_turn :
           rows::rows_in_turn(p[kRowsPerCluster], kMostInTurn, rows, cluster, gpu)) {
        if (p[kRowsPerCluster] == 0 && in_turn != 1 && in_turn != kMostInTurn) continue;
        const bool several = cluster > 1 || in_turn > 1;
        // Several rows: compiled for half of the vectors, in clusters for all of them too.
        if (p[kVectors] == 0 && several) {
          vectors = std::max(vectors, least_shared);
          if (cluster == 1 && vectors != least_shared) continue;
        }
        const Problem one = with(p, kInRegisters, vectors, cluster, in_turn);
        if (found.empty() || !(found.back() == one)) found.push_back(one);
      }
    }
  }
}

void add_streamed(std::vector<Problem>& found, const Problem& p, const Gpu& gpu) {
  const std::int64_t smallest =
      rows::cluster_for(p[rows::kCols] * element_bytes(p), kForwardRingSliceBytes);
  const std::int64_t vectors = p[kVectors] != 0 ? p[kVectors] : kForwardRingVectors;
  for (const std::int64_t cluster : rows::clusters(p[kCluster], smallest, p[rows::kRows], gpu)) {
    for (const std::int64_t in_turn :
         rows::rows_in_turn(p[kRowsPerCluster], kMostInTurn, p[rows::kRows], cluster, gpu)) {
      found.push_back(with(p, kInShared, vectors, cluster, in_turn));
    }
  }
}

}  // namespace

std::vector<Problem> candidates(const Problem& p, const Gpu& gpu) {
  const std::int64_t asked = p[kStaging];
  const bool can_stream = gpu.features.has(Instruction::bulk_copy) && rows_are_aligned(p) &&
                          (p[kVectors] == 0 || p[kVectors] == kForwardRingVectors);
  const bool streams = asked == kInShared || (asked == kChosen && can_stream);
  std::vector<Problem> found;
  if (p[kPass] == kForward) {
    if (asked != kInShared) add_held(found, p, gpu);
    if (streams) add_streamed(found, p, gpu);
    return found;
  }
  for (const Staging staging : {kInRegisters, kInShared}) {
    if (staging == kInRegisters ? asked == kInShared : !streams) continue;
    found.push_back(p);
    found.back()[kStaging] = staging;
  }
  return found;
}

}  // namespace roofcast::norm
