// gemm.wgmma in fp16, B [k,n] and [n,k].
#include "kernels/gemm/wgmma_launch.cuh"

namespace roofcast::cuda::gemm::hopper {

std::span<const CompiledTile> fp16_tiles() {
  static constexpr auto kTiles =
      joined(compiled_table<__half, DType::fp16, false, kWgmmaTiles>(),
             compiled_table<__half, DType::fp16, true, kWgmmaTiles>(),
             compiled_table<__half, DType::fp16, true, kWgmmaSwapAbTiles>());
  return kTiles;
}

}  // namespace roofcast::cuda::gemm::hopper
