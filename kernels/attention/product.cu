#include "kernels/attention/product.hpp"

#include "kernels/common/rows.cuh"
#include "kernels/gemm/mma_tile.cuh"

namespace roofcast::cuda::attention {
namespace {

using roofcast::attention::standard::kTiles;
using roofcast::attention::standard::tile_of;

struct Compiled {
  const void* function;
  int threads, shared_bytes;
};

template <class Element, Layout kLayout, std::size_t kTile>
Compiled compiled() {
  constexpr auto tile = kTiles[kTile];
  using T = gemm::Tile<Element, static_cast<int>(tile.m), static_cast<int>(tile.n),
                       static_cast<int>(tile.k_bytes) / 2, tile.warps_down, tile.warps_across,
                       tile.stages, tile.blocks, kLayout == kNT, kLayout == kTN>;
  static_assert(T::kSharedBytes == tile.shared_bytes() && T::kThreads == tile.threads());
  return {reinterpret_cast<const void*>(gemm::product_kernel<T>), T::kThreads, T::kSharedBytes};
}

template <class Element>
Compiled compiled_for(Layout layout, std::int64_t columns) {
  const bool wide = tile_of(columns) == 0;
  switch (layout) {
    case kNT:
      return wide ? compiled<Element, kNT, 0>() : compiled<Element, kNT, 1>();
    case kNN:
      return wide ? compiled<Element, kNN, 0>() : compiled<Element, kNN, 1>();
    default:
      return wide ? compiled<Element, kTN, 0>() : compiled<Element, kTN, 1>();
  }
}

}  // namespace

std::int64_t Product::tiles() const {
  const auto& tile = kTiles[tile_of(shape.n)];
  return gemm::ceil_div(shape.m, tile.m) * gemm::ceil_div(shape.n, tile.n);
}

Launch Product::launch(DType dtype) const {
  const Compiled kernel = dtype == DType::fp16 ? compiled_for<__half>(layout, shape.n)
                                               : compiled_for<__nv_bfloat16>(layout, shape.n);
  return {
      kernel.function, dim3(static_cast<unsigned>(tiles()), static_cast<unsigned>(shape.matrices)),
      dim3(static_cast<unsigned>(kernel.threads)), static_cast<std::size_t>(kernel.shared_bytes)};
}

void Product::run(DType dtype, const void* a, const void* b, void* c, cudaStream_t stream) const {
  const Launch kernel = launch(dtype);
  gemm::Shape product = shape;
  void* arguments[] = {&product, &a, &b, &c};
  rows::launch(kernel.function, kernel.grid, kernel.block, arguments, stream,
               {.shared_bytes = kernel.shared_bytes});
}

}  // namespace roofcast::cuda::attention
