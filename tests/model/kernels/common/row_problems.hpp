#pragma once
// Problems of the kernels over rows with their settings, on a device with an L1.
#include <string_view>

#include "model/kernels/norm/norm.hpp"
#include "model/kernels/reduce/reduce.hpp"
#include "model/kernels/softmax/softmax.hpp"
#include "model/roofcast.hpp"
#include "tests/model/devices.hpp"

namespace roofcast::testing {

inline Gpu gpu_with_l1() {
  Gpu gpu = hopper_like();
  gpu.memory.l1_shared_bytes = 256 * 1024;
  return gpu;
}

inline Problem problem(std::int64_t rows, std::int64_t cols, DType type = DType::fp32,
                       std::int64_t third = 0) {
  return {.dtype = type, .values = {rows, cols, third}};
}

inline LaunchSequence plans_of(std::string_view variant, const Problem& p) {
  return find_kernel(variant).kernel->plan(p, gpu_with_l1());
}

inline Plan softmax_of(std::string_view variant, const Problem& p) {
  return plans_of(variant, p).front().plan;
}

inline Problem streamed_norm(Problem p, std::int64_t cluster, std::int64_t rows_per_cluster) {
  p[norm::kVectors] = norm::kForwardRingVectors;
  p[norm::kCluster] = cluster;
  p[norm::kRowsPerCluster] = rows_per_cluster;
  p[norm::kStaging] = norm::kInShared;
  return p;
}

inline Problem held_norm(Problem p, std::int64_t vectors, std::int64_t cluster,
                         std::int64_t rows_per_cluster) {
  p[norm::kVectors] = vectors;
  p[norm::kCluster] = cluster;
  p[norm::kRowsPerCluster] = rows_per_cluster;
  p[norm::kStaging] = norm::kInRegisters;
  return p;
}

inline Problem softmax_cluster(Problem p, std::int64_t cluster, std::int64_t rows_per_cluster) {
  p[softmax::kCluster] = cluster;
  p[softmax::kRowsPerCluster] = rows_per_cluster;
  p[softmax::kStages] = 1;
  return p;
}

inline Problem sums(Problem p, std::int64_t split, std::int64_t threads) {
  p[reduce::kSplit] = split;
  p[reduce::kThreads] = threads;
  return p;
}

}  // namespace roofcast::testing
