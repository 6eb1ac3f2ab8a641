// gemm.wgmma in tf32 and fp8, B [n,k].
#include "kernels/gemm/wgmma_launch.cuh"

namespace roofcast::cuda::gemm::hopper {

std::span<const CompiledTile> along_k_tiles() {
  static constexpr auto kTiles =
      joined(compiled_table<float, DType::tf32, true, kWgmmaAlongKTiles>(),
             compiled_table<__nv_fp8_e4m3, DType::fp8, true, kWgmmaAlongKTiles>());
  return kTiles;
}

}  // namespace roofcast::cuda::gemm::hopper
