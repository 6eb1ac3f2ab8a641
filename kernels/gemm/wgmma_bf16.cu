// gemm.wgmma in bf16, B [k,n] and [n,k].
#include "kernels/gemm/wgmma_launch.cuh"

namespace roofcast::cuda::gemm::hopper {

std::span<const CompiledTile> bf16_tiles() {
  static constexpr auto kTiles =
      joined(compiled_table<__nv_bfloat16, DType::bf16, false, kWgmmaTiles>(),
             compiled_table<__nv_bfloat16, DType::bf16, true, kWgmmaTiles>(),
             compiled_table<__nv_bfloat16, DType::bf16, true, kWgmmaSwapAbTiles>());
  return kTiles;
}

}  // namespace roofcast::cuda::gemm::hopper
