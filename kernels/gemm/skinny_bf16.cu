// gemm.skinny in bf16 (skinny.cu).
#include "kernels/gemm/skinny_launch.cuh"

namespace roofcast::cuda::gemm::skinny_kernels {

std::span<const CompiledTile> bf16_tiles() {
  static constexpr auto kTiles = compiled_tiles<__nv_bfloat16, DType::bf16>();
  return kTiles;
}

}  // namespace roofcast::cuda::gemm::skinny_kernels
