// gemm.skinny in fp16 (skinny.cu).
#include "kernels/gemm/skinny_launch.cuh"

namespace roofcast::cuda::gemm::skinny_kernels {

std::span<const CompiledTile> fp16_tiles() {
  static constexpr auto kTiles = compiled_tiles<__half, DType::fp16>();
  return kTiles;
}

}  // namespace roofcast::cuda::gemm::skinny_kernels
