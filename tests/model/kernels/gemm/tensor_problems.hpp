#pragma once
// Problems of the products on tensor cores, every setting given.
#include <cstdint>

#include "model/kernels/gemm/tensor.hpp"

namespace roofcast::gemm::tensor {

struct Settings {
  std::int64_t m, n, k, split_k = 1, cluster = 1, split_rest = 1;
};

inline Problem product(std::int64_t m, std::int64_t n, std::int64_t k, const Settings& tile,
                       DType type = DType::bf16) {
  Problem p;
  p.dtype = type;
  p[kM] = m, p[kN] = n, p[kK] = k;
  p[kTileM] = tile.m, p[kTileN] = tile.n, p[kTileK] = tile.k;
  p[kBatch] = 1;
  p[kSplitK] = tile.split_k, p[kCluster] = tile.cluster;
  p[kSplitRest] = tile.split_rest;
  return p;
}

}  // namespace roofcast::gemm::tensor
