#pragma once
// The tiles that gemm.wgmma is compiled for. A file for each type, so that nvcc compiles them in
// parallel.
#include <span>

#include "kernels/gemm/joined_parts.hpp"
#include "kernels/gemm/operands.hpp"
#include "kernels/gemm/schedule.cuh"
#include "kernels/gemm/tensor.hpp"

namespace roofcast::cuda::gemm::hopper {

/// Parts of k: of all tiles, or of the tiles of the last round if it is not full. One of the two
/// is 1.
struct Asked {
  int split_k, split_rest;
};
struct CompiledTile {
  Problem configuration;
  Schedule (*schedule)(const Shape&, Asked);
  Launch (*launch)(const Schedule&);
  /// Scratch for parts that the same launch adds (Split::joined).
  WorkspaceSize (*workspace)(const Schedule&);
  /// `scratch`: sums of parts of k, or the workspace; null where all tiles are whole.
  void (*run)(const Shape&, const Operands&, void* c, const Schedule&, void* scratch, cudaStream_t);
};

std::span<const CompiledTile> bf16_tiles();
std::span<const CompiledTile> fp16_tiles();
/// Tiles of tf32 and fp8.
std::span<const CompiledTile> along_k_tiles();

}  // namespace roofcast::cuda::gemm::hopper
