// The settings of the normalization kernels that are worth a forecast.
#include "model/kernels/norm/passes.hpp"

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

// Several rows in turn are compiled for half of the vectors, in clusters for all of them too.
std::vector<std::int64_t> vectors_of(const Problem& p, std::int64_t cluster, std::int64_t in_turn) {
  const std::int64_t most = most_vectors(p), half = most / 2;
  const std::int64_t slice =
      rows::ceil_div(rows::vectors_of(p[rows::kCols], element_bytes(p)), cluster);
  if (p[kVectors] != 0 || (cluster == 1 && in_turn == 1)) {
    return rows::held_vectors(p[kVectors], slice, most, kMostThreads);
  }
  if (cluster == 1) return {half};
  return rows::powers_of_two(0, slice > half * kMostThreads ? most : half, most);
}

void add_held(std::vector<Problem>& found, const Problem& p, const Gpu& gpu) {
  const std::int64_t smallest = rows::cluster_for(
      rows::vectors_of(p[rows::kCols], element_bytes(p)), most_vectors(p) * kMostThreads);
  for (const std::int64_t cluster : rows::clusters(p[kCluster], smallest, gpu)) {
    for (const std::int64_t in_turn :
         rows::rows_in_turn(p[kRowsPerCluster], kMostInTurn, p[rows::kRows])) {
      for (const std::int64_t vectors : vectors_of(p, cluster, in_turn)) {
        found.push_back(with(p, kInRegisters, vectors, cluster, in_turn));
      }
    }
  }
}

void add_streamed(std::vector<Problem>& found, const Problem& p, const Gpu& gpu) {
  const std::int64_t smallest =
      rows::cluster_for(p[rows::kCols] * element_bytes(p), kForwardRingSliceBytes);
  const std::int64_t vectors = p[kVectors] != 0 ? p[kVectors] : kForwardRingVectors;
  for (const std::int64_t cluster : rows::clusters(p[kCluster], smallest, gpu)) {
    for (const std::int64_t in_turn :
         rows::rows_in_turn(p[kRowsPerCluster], kMostInTurn, p[rows::kRows])) {
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
