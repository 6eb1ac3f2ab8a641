#pragma once
// The launches of gemm.skinny's kernels, and the tiles they are instantiated for.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <array>

#include "kernels/gemm/skinny_registers.cuh"
#include "kernels/gemm/skinny_ring.cuh"

namespace roofcast::cuda::gemm::skinny_kernels {

using roofcast::gemm::tensor::kSkinnyRings;
using roofcast::gemm::tensor::kSkinnyTiles;
using roofcast::gemm::tensor::MmaTile;

/// A kernel of either kind, with the parameters of its launch.
template <class Element>
struct Call {
  void (*kernel)(Skinny, const Element*, const Element*, Element*);
  int rows, threads, shared_bytes;  ///< rows of weights, threads and shared memory of a block
  std::int64_t fours;  ///< float4 of sums that a block writes for the block of the last part

  Launch launch(const Skinny& p) const {
    return {reinterpret_cast<const void*>(kernel),
            dim3(static_cast<unsigned>(ceil_div(p.rows, rows)), static_cast<unsigned>(p.parts),
                 static_cast<unsigned>(p.matrices)),
            dim3(static_cast<unsigned>(threads)), static_cast<std::size_t>(shared_bytes)};
  }
  WorkspaceSize workspace(const Skinny& p) const {
    const std::int64_t tiles = std::int64_t{p.matrices} * ceil_div(p.rows, rows);
    return {tiles * (p.parts - 1) * fours, tiles * (p.parts - 1)};
  }
  void run(const Skinny& p, const Memory& at, cudaStream_t stream) const {
    const Launch one = launch(p);
    check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared_bytes));
    kernel<<<one.grid, one.block, one.shared_bytes, stream>>>(
        p, static_cast<const Element*>(at.weights), static_cast<const Element*>(at.tokens),
        static_cast<Element*>(at.c));
    check(cudaGetLastError());
  }
};

template <class T, bool kAligned>
Call<typename T::Element> call_of_registers(const Skinny& p) {
  return {p.parts > 1 ? register_kernel<T, kAligned, true> : register_kernel<T, kAligned, false>,
          T::kRows, kThreads, T::kSharedBytes, PartsOfRegisters<T>::kFours};
}
template <class T>
Call<typename T::Element> call_of_ring() {
  return {ring_kernel<T>, T::kColumns, T::kThreads, T::kSharedBytes, PartsOfRing<T>::kFours};
}

/// A tile for at most 8 tokens: the kernel by registers.
template <class Element, std::size_t kRow>
struct OfRegisters {
  static constexpr bool kOfRing = false;
  static constexpr SkinnyTile kTile = kSkinnyTiles[kRow];
  using T = RegisterTile<Element, static_cast<int>(kTile.tokens), kTile.along_k>;
  static_assert(T::kRows == kTile.rows() && T::kSharedBytes == kTile.shared_bytes());
  static Call<Element> call(const Skinny& p, bool aligned) {
    return aligned ? call_of_registers<T, true>(p) : call_of_registers<T, false>(p);
  }
};
/// A tile for more tokens: the kernel with a ring, or by registers where cp.async cannot copy.
template <class Element, bool kAlongK, std::size_t kRow>
struct OfRing {
  static constexpr bool kOfRing = true;
  static constexpr MmaTile kRing = kSkinnyRings[kRow];
  template <bool kTokensAcross>
  using T = Tile<Element, static_cast<int>(kRing.m), static_cast<int>(kRing.n),
                 static_cast<int>(kRing.k_bytes / sizeof(Element)), kRing.warps_down,
                 kRing.warps_across, kRing.stages, kRing.blocks, kAlongK, kTokensAcross>;
  static_assert(T<false>::kSharedBytes == kRing.shared_bytes());
  static Call<Element> call(const Skinny& p, bool aligned) {
    if (!aligned) {
      using Registers = RegisterTile<Element, static_cast<int>(kRing.m), kAlongK>;
      return call_of_registers<Registers, false>(p);
    }
    if constexpr (kAlongK) {  // tokens are stored by rows of k only where A has the weights
      if (p.tokens_across) return call_of_ring<T<true>>();
    }
    return call_of_ring<T<false>>();
  }
};

template <class Element, class Of>
constexpr CompiledTile compiled(const Problem& configuration) {
  return {configuration, Of::kOfRing,
          [](const Skinny& p, bool aligned) { return Of::call(p, aligned).launch(p); },
          [](const Skinny& p, bool aligned) { return Of::call(p, aligned).workspace(p); },
          [](const Skinny& p, const Memory& at, bool aligned, cudaStream_t stream) {
            Of::call(p, aligned).run(p, at, stream);
          }};
}
template <class Element, DType kType, bool kAlongK>
constexpr auto compiled_rings() {
  return compiled_rows<kSkinnyRings>([](auto row) {
    constexpr MmaTile ring = kSkinnyRings[decltype(row)::value];
    return compiled<Element, OfRing<Element, kAlongK, decltype(row)::value>>(
        tensor_configuration(kType, ring.m, ring.n, ring.k_bytes / sizeof(Element), kAlongK, 1));
  });
}
template <class Element, DType kType>
constexpr auto compiled_tiles() {
  return joined(
      compiled_rows<kSkinnyTiles>([](auto row) {
        constexpr SkinnyTile tile = kSkinnyTiles[decltype(row)::value];
        return compiled<Element, OfRegisters<Element, decltype(row)::value>>(
            tensor_configuration(kType, tile.tokens, tile.rows(), kBlockK, tile.along_k, 1));
      }),
      compiled_rings<Element, kType, false>(), compiled_rings<Element, kType, true>());
}

}  // namespace roofcast::cuda::gemm::skinny_kernels
