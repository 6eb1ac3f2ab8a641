#pragma once
// The tiles that gemm.wgmma is compiled for. One file a type: nvcc compiles them side by side.
#include <span>

#include "kernels/gemm/layout.cuh"
#include "kernels/gemm/operands.hpp"
#include "kernels/gemm/tensor.hpp"

namespace roofcast::cuda::gemm::hopper {

/// Parts of k: of all tiles, or of those of the last round where it is not full. One of them is 1.
struct Split {
  int all, rest;
};
struct CompiledTile {
  Problem configuration;
  Schedule (*schedule)(const Shape&, Split);
  Launch (*launch)(const Schedule&);
  /// `sums` of the rest are by tile, those of all tiles are not.
  void (*run)(const Shape&, const Operands&, void* c, const Schedule&, float* sums, bool by_tile,
              cudaStream_t);
};

std::span<const CompiledTile> bf16_tiles();
std::span<const CompiledTile> fp16_tiles();
/// Of tf32 and fp8.
std::span<const CompiledTile> along_k_tiles();

}  // namespace roofcast::cuda::gemm::hopper
