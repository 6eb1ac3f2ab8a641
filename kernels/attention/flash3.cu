// attention.flash3: the tiles that its kernels are compiled for, and their launches.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "kernels/attention/attention.hpp"
#include "kernels/attention/flash3_backward.hpp"
#include "kernels/attention/flash3_forward.cuh"
#include "kernels/attention/head_map.hpp"
#include "kernels/common/aligned.hpp"
#include "kernels/common/error.hpp"
#include "kernels/common/exponential.cuh"
#include "kernels/gemm/tensor.hpp"

namespace roofcast::cuda::attention {
namespace {

using roofcast::attention::Flash3Tile;
using roofcast::attention::head_row;
using roofcast::attention::heads_together;
using roofcast::attention::kFlash3Tiles;

constexpr int kSmsOfH100 = 132;  // so that a launch can be described without a device

int sms() {
  static const int count = [] {
    int device = 0, found = kSmsOfH100;
    if (!gemm::has_device()) return found;
    check(cudaGetDevice(&device));
    check(cudaDeviceGetAttribute(&found, cudaDevAttrMultiProcessorCount, device));
    return found;
  }();
  return count;
}

Tiles tiles_of(const Shape& s, const Flash3Tile& tile) {
  const auto heads = static_cast<int>(s.batch * s.heads);
  const std::int64_t kv_bytes = s.seq_kv * s.head_dim * 2;
  return {static_cast<int>(s.seq_q),
          static_cast<int>(s.seq_kv),
          s.causal,
          heads,
          static_cast<int>(heads_together(heads, s.group(), kv_bytes, s.causal)),
          static_cast<int>(tile.queries),
          static_cast<int>(tile.keys)};
}

struct Forward {
  DType dtype;
  Launch (*launch)(const Shape&);
  void (*run)(const Shape&, const Addresses&, cudaStream_t);
};

template <class T, const Flash3Tile& kTile>
Launch launch_of(const Shape& s) {
  return {reinterpret_cast<const void*>(hopper::forward_kernel<T>),
          dim3(static_cast<unsigned>(std::min(tiles_of(s, kTile).count(), sms()))),
          dim3(T::kThreads), static_cast<std::size_t>(T::kSharedBytes)};
}

template <class T, const Flash3Tile& kTile>
void run_tile(const Shape& s, const Addresses& at, cudaStream_t stream) {
  using Element = typename T::Element;
  constexpr DType kType = std::is_same_v<Element, __half> ? DType::fp16 : DType::bf16;
  const std::int64_t q_heads = s.batch * s.heads, kv_heads = s.batch * s.kv_heads;
  const auto map = [&](std::size_t input, std::int64_t heads, std::int64_t rows, int box_rows) {
    return head_map(kType, at.inputs[input], heads, rows, s.head_dim, box_rows);
  };
  CUtensorMap q = map(kQ, q_heads, s.seq_q, hopper::kRowsOfWarpgroup);
  CUtensorMap k = map(kK, kv_heads, s.seq_kv, T::kKeys);
  CUtensorMap v = map(kV, kv_heads, s.seq_kv, T::kKeys);
  hopper::ForwardWork<Element> work{tiles_of(s, kTile),
                                    static_cast<int>(s.head_dim),
                                    static_cast<int>(s.group()),
                                    kLog2E / std::sqrt(static_cast<float>(s.head_dim)),
                                    static_cast<Element*>(at.outputs[kOutO]),
                                    static_cast<float*>(at.outputs[kOutLse]),
                                    nullptr};
  if (s.causal) {
    work.taken = static_cast<int*>(at.scratch[0]);
    check(cudaMemsetAsync(work.taken, 0, sizeof(int), stream));
  }
  void* arguments[] = {&q, &k, &v, &work};
  const Launch launch = launch_of<T, kTile>(s);
  rows::launch(launch.function, launch.grid, launch.block, arguments, stream,
               {.shared_bytes = launch.shared_bytes});
}

template <class Element, DType kType, std::size_t kCausal, std::size_t kHead>
constexpr Forward compiled() {
  constexpr const Flash3Tile& kTile = kFlash3Tiles[kCausal][kHead];
  using T = hopper::Tile<Element, static_cast<int>(kTile.head_dim), static_cast<int>(kTile.queries),
                         static_cast<int>(kTile.keys), kTile.stages, kTile.stages_q>;
  static_assert(T::kSharedBytes == kTile.shared_bytes() && T::kThreads == kTile.threads());
  return {kType, launch_of<T, kTile>, run_tile<T, kTile>};
}

/// The kernels by type, mask and head dim, in the order of the table of tiles.
template <class Element, DType kType, std::size_t kCausal>
constexpr std::array<Forward, 3> compiled_heads() {
  return {compiled<Element, kType, kCausal, 0>(), compiled<Element, kType, kCausal, 1>(),
          compiled<Element, kType, kCausal, 2>()};
}
constexpr std::array<std::array<std::array<Forward, 3>, 2>, 2> kForward = {
    {{compiled_heads<__nv_bfloat16, DType::bf16, 0>(),
      compiled_heads<__nv_bfloat16, DType::bf16, 1>()},
     {compiled_heads<__half, DType::fp16, 0>(), compiled_heads<__half, DType::fp16, 1>()}}};

const Forward& forward_of(const Problem& p) {
  const Shape s(p);
  return kForward[p.dtype == DType::bf16 ? 0 : 1][s.causal ? 1 : 0][head_row(s.head_dim)];
}

std::string unsupported(const Problem& p) {
  if (std::string why = unsupported_shape(p); !why.empty()) return why;
  if (Shape(p).backward) {
    if (std::string why = flash3_backward::unsupported(p); !why.empty()) return why;
  }
  if (!gemm::device_is(9, 0)) {
    return "this device has no wgmma (compute capability 9.0): use attention.flash2";
  }
  return {};
}

Tensors with_scratch(const Problem& p) {
  Tensors all = tensors(p);
  const Shape s(p);
  if (s.backward) {
    flash3_backward::add_scratch(all, p);
  } else if (s.causal) {
    all.scratch.push_back({DType::fp32, 1});  // the counter of tiles
  }
  return all;
}

std::vector<Launch> launches(const Problem& p) {
  const Shape s(p);
  return s.backward ? flash3_backward::launches(p) : std::vector{forward_of(p).launch(s)};
}

void run_on_aligned(const Problem& p, const Addresses& at, cudaStream_t stream) {
  const Shape s(p);
  s.backward ? flash3_backward::run(p, at, stream) : forward_of(p).run(s, at, stream);
}

void run(const Problem& p, const Addresses& at, cudaStream_t stream) {
  run_aligned(p, at, stream, with_scratch, run_on_aligned);
}

constexpr Problem configuration(roofcast::attention::DqSum dq) {
  Problem p{.dtype = DType::bf16};
  p[roofcast::attention::kDq] = dq;
  return p;
}
constexpr std::array kConfigurations = {configuration(roofcast::attention::kAtomic),
                                        configuration(roofcast::attention::kTwoPass)};

}  // namespace

KernelEntry flash3() {
  return attention_entry("attention.flash3", kConfigurations, unsupported, with_scratch, launches,
                         run, repeats);
}

}  // namespace roofcast::cuda::attention
