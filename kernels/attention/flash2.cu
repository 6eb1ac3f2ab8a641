// attention.flash2: the tiles that its kernels are compiled for, and what surrounds their launches.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "kernels/attention/aligned.hpp"
#include "kernels/attention/attention.hpp"
#include "kernels/attention/flash2_backward.cuh"
#include "kernels/attention/flash2_forward.cuh"
#include "kernels/attention/flash2_passes.cuh"
#include "kernels/attention/flash2_queries.cuh"
#include "kernels/common/rows.cuh"
#include "kernels/gemm/tensor.hpp"

namespace roofcast::cuda::attention {
namespace {

using roofcast::attention::DqSum;
using roofcast::attention::heads_together;
using roofcast::attention::kAtomic;
using roofcast::attention::kDq;
using roofcast::attention::kFlash2BackwardTiles;
using roofcast::attention::kFlash2DqTiles;
using roofcast::attention::kFlash2Tiles;
using roofcast::attention::kHeadDims;
using roofcast::attention::kTwoPass;

constexpr float kLog2E = 1.44269504088896F;

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

std::size_t row_of(const Shape& s) {
  const auto fits = [&](std::int64_t head) { return s.head_dim <= head; };
  return static_cast<std::size_t>(std::find_if(kHeadDims.begin(), kHeadDims.end(), fits) -
                                  kHeadDims.begin());
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
          static_cast<int>(tile.keys),
          1};
}

mma::KeyTiles key_tiles(const Shape& s) {
  const auto& tile = kFlash2BackwardTiles[row_of(s)];
  // What the tiles of a head share is Q and dO of its group.
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
  const auto& tile = kFlash2Tiles[row_of(s)];
  return launch_of(Kernels<Element>::kForward[row_of(s)], query_tiles(s, tile).count(),
                   tile.threads(), tile.shared_bytes());
}
template <class Element>
Launch queries_launch(const Shape& s) {
  const auto& tile = kFlash2DqTiles[row_of(s)];
  return launch_of(Kernels<Element>::kQueries[row_of(s)], query_tiles(s, tile).count(),
                   tile.threads(), tile.shared_bytes());
}
template <class Element>
Launch keys_launch(const Shape& s, DqSum sum) {
  const auto& tile = kFlash2BackwardTiles[row_of(s)];
  return launch_of(Kernels<Element>::kKeys[sum][row_of(s)], key_tiles(s).count(), tile.threads(),
                   tile.shared_bytes(sum));
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
  rows::launch(launch.function, launch.grid, launch.block, 1, all, stream, launch.shared_bytes);
}

bool vectors(const void* address) {
  return gemm::multiple_of(16, address, 0);
}

template <class Element>
void forward(const Shape& s, const Addresses& at, cudaStream_t stream) {
  const auto q_bytes = static_cast<std::size_t>(s.q_bytes());
  const auto kv_bytes = static_cast<std::size_t>(s.kv_bytes());
  const Aligned q(at.inputs[kQ], q_bytes, stream), k(at.inputs[kK], kv_bytes, stream),
      v(at.inputs[kV], kv_bytes, stream);
  start(forward_launch<Element>(s), stream,
        mma::ForwardWork<Element>{
            query_tiles(s, kFlash2Tiles[row_of(s)]), static_cast<int>(s.head_dim),
            static_cast<int>(s.group()), kLog2E / std::sqrt(static_cast<float>(s.head_dim)),
            static_cast<const Element*>(q.data()), static_cast<const Element*>(k.data()),
            static_cast<const Element*>(v.data()), static_cast<Element*>(at.outputs[kOutO]),
            static_cast<float*>(at.outputs[kOutLse]), vectors(at.outputs[kOutO])});
}

/// Scratch at a multiple of 16 bytes: that of the problem, or the stream's if it is not.
class Scratch {
 public:
  Scratch(void* given, std::size_t bytes, cudaStream_t stream) : data_(given), stream_(stream) {
    if (vectors(given)) return;
    check(cudaMallocAsync(&own_, bytes, stream));
    data_ = own_;
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch() {
    if (own_ != nullptr) (void)cudaFreeAsync(own_, stream_);
  }
  void* data() const { return data_; }

 private:
  void* data_;
  void* own_ = nullptr;
  cudaStream_t stream_;
};

template <class Element>
void backward(const Shape& s, DqSum sum, const Addresses& at, cudaStream_t stream) {
  const auto q_bytes = static_cast<std::size_t>(s.q_bytes());
  const auto kv_bytes = static_cast<std::size_t>(s.kv_bytes());
  const Aligned aligned[] = {{at.inputs[kQ], q_bytes, stream},
                             {at.inputs[kK], kv_bytes, stream},
                             {at.inputs[kV], kv_bytes, stream},
                             {at.inputs[kDO], q_bytes, stream},
                             {at.inputs[kO], q_bytes, stream}};
  const auto input = [&](Input i) { return static_cast<const Element*>(aligned[i].data()); };
  const bool adds = sum == kAtomic;
  const auto queries = static_cast<std::size_t>(query_rows(s));
  const Scratch rows(at.scratch[0], queries * sizeof(float2), stream);
  const Scratch sums(adds ? at.scratch[1] : nullptr,
                     queries * static_cast<std::size_t>(s.head_dim) * sizeof(float), stream);
  const auto head_dim = static_cast<int>(s.head_dim), group = static_cast<int>(s.group());
  const float factor = 1 / std::sqrt(static_cast<float>(s.head_dim));
  auto* const of_rows = static_cast<float2*>(rows.data());
  auto* const dq_sums = static_cast<float*>(sums.data());
  auto* const dq = static_cast<Element*>(at.outputs[kOutDQ]);
  auto* const dk = static_cast<Element*>(at.outputs[kOutDK]);
  auto* const dv = static_cast<Element*>(at.outputs[kOutDV]);
  start(rows_launch<Element>(s), stream, input(kDO), input(kO),
        static_cast<const float*>(at.inputs[kLse]), query_rows(s), head_dim, of_rows, dq_sums);
  start(keys_launch<Element>(s, sum), stream,
        mma::KeysWork<Element>{key_tiles(s), head_dim, group, kLog2E * factor, factor, input(kQ),
                               input(kK), input(kV), input(kDO), of_rows, dq_sums, dk, dv,
                               vectors(dk) && vectors(dv)});
  if (adds) {
    start(round_launch<Element>(s), stream, static_cast<const float*>(dq_sums),
          query_rows(s) * s.head_dim / 8, dq, vectors(dq));
    return;
  }
  start(queries_launch<Element>(s), stream,
        mma::QueriesWork<Element>{query_tiles(s, kFlash2DqTiles[row_of(s)]), head_dim, group,
                                  kLog2E * factor, factor, input(kQ), input(kK), input(kV),
                                  input(kDO), of_rows, dq, vectors(dq)});
}

std::vector<Launch> launches(const Problem& p) {
  const Shape s(p);
  return visit(p.dtype, [&]<class Element>(std::type_identity<Element>) -> std::vector<Launch> {
    if (!s.backward) return {forward_launch<Element>(s)};
    return {rows_launch<Element>(s), keys_launch<Element>(s, sum_of(p)),
            sum_of(p) == kAtomic ? round_launch<Element>(s) : queries_launch<Element>(s)};
  });
}

void run(const Problem& p, const Addresses& at, cudaStream_t stream) {
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
  // Blocks of any kernel: tiles have 64 rows at least, passes 16 rows or 2048 elements.
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

constexpr Problem configuration(DqSum sum) {
  Problem p{.dtype = DType::bf16};
  p[kDq] = sum;
  return p;
}
constexpr std::array kConfigurations = {configuration(kAtomic), configuration(kTwoPass)};

}  // namespace

KernelEntry flash2() {
  return {.name = "attention.flash2",
          .configurations = kConfigurations,
          .unsupported = unsupported,
          .tensors = with_scratch,
          .launches = launches,
          .run = run,
          .reference = reference,
          .tolerance = tolerance,
          .fill = fill,
          .repeats = [](const Problem& p) { return !Shape(p).backward || sum_of(p) != kAtomic; }};
}

}  // namespace roofcast::cuda::attention
