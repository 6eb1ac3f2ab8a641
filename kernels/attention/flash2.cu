// attention.flash2: the tiles that its kernels are compiled for, and their launches.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "kernels/attention/attention.hpp"
#include "kernels/attention/flash2_backward.cuh"
#include "kernels/attention/flash2_forward.cuh"
#include "kernels/attention/flash2_passes.cuh"
#include "kernels/attention/flash2_queries.cuh"
#include "kernels/common/aligned.hpp"
#include "kernels/common/exponential.cuh"
#include "kernels/common/rows.cuh"
#include "kernels/gemm/tensor.hpp"

namespace roofcast::cuda::attention {
namespace {

using roofcast::attention::DqSum;
using roofcast::attention::head_row;
using roofcast::attention::heads_together;
using roofcast::attention::kAtomic;
using roofcast::attention::kDq;
using roofcast::attention::kFlash2BackwardTiles;
using roofcast::attention::kFlash2DqTiles;
using roofcast::attention::kFlash2Tiles;
using roofcast::attention::kTwoPass;

/// The kernels of a type, by head dim, and by DqSum.
template <class Element>
struct Kernels {
  template <std::size_t kRow>
  using Forward = mma::QueryTile<Element, kFlash2Tiles, kRow>;
  template <std::size_t kRow>
  using Queries = mma::QueryTile<Element, kFlash2DqTiles, kRow>;
  template <std::size_t kRow, DqSum kSum>
  using Keys = mma::KeyTile<Element, kRow, kSum>;

  static constexpr std::array<void (*)(mma::ForwardWork<Element>), 3> kForward = {
      mma::forward_kernel<Forward<0>>, mma::forward_kernel<Forward<1>>,
      mma::forward_kernel<Forward<2>>};
  static constexpr std::array<void (*)(mma::QueriesWork<Element>), 3> kQueries = {
      mma::queries_kernel<Queries<0>>, mma::queries_kernel<Queries<1>>,
      mma::queries_kernel<Queries<2>>};
  static constexpr std::array<std::array<void (*)(mma::KeysWork<Element>), 3>, 2> kKeys = {
      {{mma::keys_kernel<Keys<0, kAtomic>>, mma::keys_kernel<Keys<1, kAtomic>>,
        mma::keys_kernel<Keys<2, kAtomic>>},
       {mma::keys_kernel<Keys<0, kTwoPass>>, mma::keys_kernel<Keys<1, kTwoPass>>,
        mma::keys_kernel<Keys<2, kTwoPass>>}}};
};

/// Calls visitor(std::type_identity<Element>{}).
template <class Visitor>
decltype(auto) visit(DType dtype, Visitor&& visitor) {
  if (dtype == DType::fp16) return visitor(std::type_identity<__half>{});
  return visitor(std::type_identity<__nv_bfloat16>{});
}

DqSum sum_of(const Problem& p) {
  return p[kDq] == kTwoPass ? kTwoPass : kAtomic;
}

std::int64_t query_rows(const Shape& s) {
  return s.batch * s.heads * s.seq_q;
}

template <class Tile>
Tiles query_tiles(const Shape& s, const Tile& tile) {
  const std::int64_t heads = s.batch * s.heads, kv_bytes = s.seq_kv * s.head_dim * 2;
  return {static_cast<int>(s.seq_q),
          static_cast<int>(s.seq_kv),
          s.causal,
          static_cast<int>(heads),
          static_cast<int>(heads_together(heads, s.group(), kv_bytes, s.causal)),
          static_cast<int>(tile.queries),
          static_cast<int>(tile.keys)};
}

mma::KeyTiles key_tiles(const Shape& s) {
  const auto& tile = kFlash2BackwardTiles[head_row(s.head_dim)];
  // The tiles of a head share Q and dO of its group.
  const std::int64_t heads = s.batch * s.kv_heads, bytes = s.group() * s.seq_q * s.head_dim * 2;
  return {static_cast<int>(s.seq_q),
          static_cast<int>(s.seq_kv),
          s.causal,
          static_cast<int>(heads),
          static_cast<int>(heads_together(heads, 1, bytes, s.causal)),
          static_cast<int>(tile.keys),
          static_cast<int>(tile.queries)};
}

template <class Kernel>
Launch launch_of(Kernel kernel, std::int64_t blocks, std::int64_t threads, std::int64_t bytes) {
  return {reinterpret_cast<const void*>(kernel), dim3(static_cast<unsigned>(blocks)),
          dim3(static_cast<unsigned>(threads)), static_cast<std::size_t>(bytes)};
}

template <class Element>
Launch forward_launch(const Shape& s) {
  const auto& tile = kFlash2Tiles[head_row(s.head_dim)];
  return launch_of(Kernels<Element>::kForward[head_row(s.head_dim)], query_tiles(s, tile).count(),
                   tile.threads(), tile.shared_bytes());
}
template <class Element>
Launch queries_launch(const Shape& s) {
  const auto& tile = kFlash2DqTiles[head_row(s.head_dim)];
  return launch_of(Kernels<Element>::kQueries[head_row(s.head_dim)], query_tiles(s, tile).count(),
                   tile.threads(), tile.shared_bytes());
}
template <class Element>
Launch keys_launch(const Shape& s, DqSum sum) {
  const auto& tile = kFlash2BackwardTiles[head_row(s.head_dim)];
  return launch_of(Kernels<Element>::kKeys[sum][head_row(s.head_dim)], key_tiles(s).count(),
                   tile.threads(), tile.shared_bytes(sum));
}
template <class Element>
Launch rows_launch(const Shape& s) {
  return launch_of(mma::rows_kernel<Element>, gemm::ceil_div(query_rows(s), mma::kPassRows),
                   mma::kPassThreads, 0);
}
template <class Element>
Launch round_launch(const Shape& s) {
  return launch_of(mma::round_kernel<Element>,
                   gemm::ceil_div(query_rows(s) * s.head_dim / 8, mma::kPassThreads),
                   mma::kPassThreads, 0);
}

template <class... Arguments>
void start(const Launch& launch, cudaStream_t stream, Arguments... arguments) {
  void* all[] = {&arguments...};
  rows::launch(launch.function, launch.grid, launch.block, all, stream,
               {.shared_bytes = launch.shared_bytes});
}

template <class Element>
void forward(const Shape& s, const Addresses& at, cudaStream_t stream) {
  const auto input = [&](Input i) { return static_cast<const Element*>(at.inputs[i]); };
  start(forward_launch<Element>(s), stream,
        mma::ForwardWork<Element>{query_tiles(s, kFlash2Tiles[head_row(s.head_dim)]),
                                  static_cast<int>(s.head_dim), static_cast<int>(s.group()),
                                  kLog2E / std::sqrt(static_cast<float>(s.head_dim)), input(kQ),
                                  input(kK), input(kV), static_cast<Element*>(at.outputs[kOutO]),
                                  static_cast<float*>(at.outputs[kOutLse])});
}

template <class Element>
void backward(const Shape& s, DqSum sum, const Addresses& at, cudaStream_t stream) {
  const auto input = [&](Input i) { return static_cast<const Element*>(at.inputs[i]); };
  const Element* const q = input(kQ);
  const Element* const k = input(kK);
  const Element* const v = input(kV);
  const Element* const d_o = input(kDO);
  const Element* const o = input(kO);
  const bool adds = sum == kAtomic;
  auto* const of_rows = static_cast<float2*>(at.scratch[0]);
  float* const dq_sums = adds ? static_cast<float*>(at.scratch[1]) : nullptr;
  const auto head_dim = static_cast<int>(s.head_dim), group = static_cast<int>(s.group());
  const float factor = 1 / std::sqrt(static_cast<float>(s.head_dim));
  auto* const dq = static_cast<Element*>(at.outputs[kOutDQ]);
  auto* const dk = static_cast<Element*>(at.outputs[kOutDK]);
  auto* const dv = static_cast<Element*>(at.outputs[kOutDV]);
  start(rows_launch<Element>(s), stream, d_o, o, static_cast<const float*>(at.inputs[kLse]),
        query_rows(s), head_dim, of_rows, dq_sums);
  start(keys_launch<Element>(s, sum), stream,
        mma::KeysWork<Element>{key_tiles(s), head_dim, group, kLog2E * factor, factor, q, k, v, d_o,
                               of_rows, dq_sums, dk, dv});
  if (adds) {
    start(round_launch<Element>(s), stream, static_cast<const float*>(dq_sums),
          query_rows(s) * s.head_dim / 8, dq);
    return;
  }
  start(queries_launch<Element>(s), stream,
        mma::QueriesWork<Element>{query_tiles(s, kFlash2DqTiles[head_row(s.head_dim)]), head_dim,
                                  group, kLog2E * factor, factor, q, k, v, d_o, of_rows, dq});
}

std::vector<Launch> launches(const Problem& p) {
  const Shape s(p);
  return visit(p.dtype, [&]<class Element>(std::type_identity<Element>) -> std::vector<Launch> {
    if (!s.backward) return {forward_launch<Element>(s)};
    return {rows_launch<Element>(s), keys_launch<Element>(s, sum_of(p)),
            sum_of(p) == kAtomic ? round_launch<Element>(s) : queries_launch<Element>(s)};
  });
}

void run_on_aligned(const Problem& p, const Addresses& at, cudaStream_t stream) {
  const Shape s(p);
  visit(p.dtype, [&]<class Element>(std::type_identity<Element>) {
    if (s.backward) {
      backward<Element>(s, sum_of(p), at, stream);
    } else {
      forward<Element>(s, at, stream);
    }
  });
}

std::string unsupported(const Problem& p) {
  if (std::string why = unsupported_shape(p); !why.empty()) return why;
  if (p[kDq] != kAtomic && p[kDq] != kTwoPass) return "dq must be 0 (atomic) or 1 (two_pass)";
  const Shape s(p);
  // Bounds the blocks of each kernel: a tile has at least 64 rows, a block of a pass 16 rows or
  // 2048 elements.
  constexpr std::int64_t kMostBlocks = std::numeric_limits<int>::max() / 2;
  const std::int64_t rows =
      s.batch * std::max(s.heads * (s.seq_q + 64), s.kv_heads * (s.seq_kv + 64));
  if (rows / mma::kPassRows > kMostBlocks) return "too many rows for one grid";
  for (const Launch& launch : launches(p)) {
    if (std::string why = gemm::fits_device(launch); !why.empty()) return why;
  }
  return {};
}

Tensors with_scratch(const Problem& p) {
  Tensors all = tensors(p);
  const Shape s(p);
  if (!s.backward) return all;
  const auto rows = static_cast<std::size_t>(query_rows(s));
  all.scratch.push_back({DType::fp32, 2 * rows});
  if (sum_of(p) == kAtomic) {
    all.scratch.push_back({DType::fp32, rows * static_cast<std::size_t>(s.head_dim)});
  }
  return all;
}

void run(const Problem& p, const Addresses& at, cudaStream_t stream) {
  run_aligned(p, at, stream, with_scratch, run_on_aligned);
}

constexpr Problem configuration(DqSum sum) {
  Problem p{.dtype = DType::bf16};
  p[kDq] = sum;
  return p;
}
constexpr std::array kConfigurations = {configuration(kAtomic), configuration(kTwoPass)};

}  // namespace

KernelEntry flash2() {
  return attention_entry("attention.flash2", kConfigurations, unsupported, with_scratch, launches,
                         run, repeats);
}

}  // namespace roofcast::cuda::attention
