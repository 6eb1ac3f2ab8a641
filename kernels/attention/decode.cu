// Few queries against a long cache of keys: the decode step of a language model.
//
// With `group` query heads per head of K and V and seq_q queries each, r = group·seq_q, each byte
// of the cache takes part in r FLOPs: at most 16 here, a twentieth of the intensity at which the
// tensor cores of an H100 become the limit. So the kernel reads the cache once, at the copy rate,
// and hides all else:
//
// 1. The r ≤ 16 rows are the 16 rows of mma.m16n8k16, so one read of a key serves all queries that
//    share it. Rows beyond r are zeros, whose products cost nothing scarce.
// 2. The keys are split among `splits` blocks; a second kernel adds the parts by their sums of
//    exponentials (fp32). Its blocks start while the last blocks of the first kernel still run, and
//    wait for them on the SMs (programmatic dependent launch, compute capability 9.0). The warps of
//    a block take units of 16 keys round-robin, each with its own maximum, sum and O, and do not
//    wait for each other before the end.
// 3. cp.async brings units to shared memory while others are multiplied: 96 KB a block, two blocks
//    an SM up to head dim 128, 190 KB in flight where Little's law asks for 29 (4.8 TB/s · 800 ns /
//    132). Each warp has its own ring in shared memory, from which lanes read whole 16-byte chunks
//    (decode_layout.cuh): no block barrier, no ldmatrix, no bank conflict. Copies ask for whole
//    lines of 128 bytes, or L2 would send sectors twice.
// 4. O is rescaled only if a unit's largest score exceeds all before it, which is rare.
//
// Bytes, with n keys, head dim d, b heads of K and V in the batch:
//   4·b·n·d        K and V from DRAM, each once, past L1
//   2·b·r·d        Q, once a split, from L2
//   8·b·r·d·splits parts of O in fp32, written and read; none where splits is 1
//   2·b·r·d        O
// The parts are 2·r·splits/n of the cache: 1 of 100 for 8 rows, 8 splits and 12800 keys.
#include <algorithm>
#include <array>
#include <limits>

#include "kernels/attention/attention.hpp"
#include "kernels/attention/decode_warp.cuh"
#include "kernels/common/aligned.hpp"
#include "kernels/common/error.hpp"
#include "kernels/common/exponential.cuh"
#include "kernels/common/rows.cuh"
#include "kernels/gemm/tensor.hpp"

namespace roofcast::cuda::attention {
namespace decoding {
namespace {

constexpr int kCombineWarps = static_cast<int>(model::kCombineWarps);

/// Parameters of both kernels.
struct Decode {
  int rows, seq_q, seq_kv, dim, splits;  ///< rows: queries of a head of K and V
  std::int64_t all_rows;
  bool causal;
  float scale;
  float *partial, *partial_lse;  ///< [split][row][dim] and [split][row]; null for one split

  __device__ int visible(int row) const {
    return causal ? row % seq_q + 1 + seq_kv - seq_q : seq_kv;
  }
};

template <class Element>
__device__ void store_four(Element* to, const float4& x) {
  *reinterpret_cast<uint2*>(to) = {gemm::pair_of<Element>(x.x, x.y),
                                   gemm::pair_of<Element>(x.z, x.w)};
}

/// A row's maximum over several parts, and its sum of exponentials relative to that maximum.
struct Whole {
  float max = -INFINITY, sum = 0;

  template <int kParts>
  static __device__ Whole of(const float2 (&parts)[kParts][kRows], int row, float c) {
    Whole whole;
#pragma unroll
    for (int w = 0; w < kParts; ++w) whole.max = fmaxf(whole.max, parts[w][row].x);
#pragma unroll
    for (int w = 0; w < kParts; ++w) {
      whole.sum += parts[w][row].y * exp2_of((parts[w][row].x - anchor(whole.max)) * c);
    }
    return whole;
  }
};

/// Lets blocks of the next launch start once all blocks of this one have started.
__device__ inline void let_next_launch_start() {
#if __CUDA_ARCH__ >= 900
  cudaTriggerProgrammaticLaunchCompletion();
#endif
}
/// Waits until the launch before has ended and its writes are visible.
__device__ inline void wait_for_launch_before() {
#if __CUDA_ARCH__ >= 900
  cudaGridDependencySynchronize();
#endif
}

template <class T>
__global__ void __launch_bounds__(T::kThreads, T::kBlocks)
    decode_kernel(const __grid_constant__ Decode p, const typename T::Element* __restrict__ q,
                  const typename T::Element* __restrict__ k,
                  const typename T::Element* __restrict__ v, typename T::Element* __restrict__ o,
                  float* __restrict__ lse) {
  let_next_launch_start();
  extern __shared__ __align__(128) unsigned char shared[];
  __shared__ float2 parts[T::kWarps][kRows];
  const auto thread = static_cast<int>(threadIdx.x);
  const int lane = thread % 32, warp = thread / 32;
  const auto block = static_cast<int>(blockIdx.x);
  const int head = block / p.splits, split = block % p.splits;
  q += std::int64_t{head} * p.rows * p.dim;
  k += std::int64_t{head} * p.seq_kv * p.dim;
  v += std::int64_t{head} * p.seq_kv * p.dim;
  const gemm::Range units = gemm::part_of((p.seq_kv + kKeys - 1) / kKeys, split, p.splits);

  Warp<T> mine;
  mine.lane = lane, mine.seq_kv = p.seq_kv, mine.dim = p.dim;
  mine.ring = static_cast<unsigned>(__cvta_generic_to_shared(shared)) +
              static_cast<unsigned>(warp * T::kStages * T::kStageBytes);
  mine.first = (units.begin + warp) * kKeys;
  mine.units = max(0, (units.past - units.begin - warp + T::kWarps - 1) / T::kWarps);
#pragma unroll
  for (int i = 0; i < T::kStages; ++i) mine.start_keys(k, i), mine.start_values(v, i);
  auto* const of_q = reinterpret_cast<uint4*>(shared + T::kRingBytes);  // [slice][half][lane]
  for (int i = thread; i < 2 * T::kSlicesD * 32; i += T::kThreads) {
    const Place at = q_chunk(i % 32, i / 64, i / 32 % 2);
    const bool inside = at.row < p.rows && at.column < p.dim;
    of_q[i] =
        inside ? __ldg(reinterpret_cast<const uint4*>(q + at.row * p.dim + at.column)) : uint4{};
  }
  mine.q = static_cast<unsigned>(__cvta_generic_to_shared(of_q + lane));
  __syncthreads();
  const float c = p.scale * kLog2E;
  const int all_see = p.causal ? p.visible(0) : p.seq_kv;  // the first query sees the fewest
  const int visible[2] = {p.visible(lane / 4), p.visible(lane / 4 + 8)};

  // When a unit's keys are needed, 2·kStages + 2·unit groups have been committed; all but the last
  // kPending belong to these keys or earlier copies. When its values are needed, there is one more.
  constexpr int kPending = 2 * T::kStages - 1;
#pragma unroll 1
  for (int unit = 0; unit < mine.units; ++unit) {
    float s[2][4] = {};
    gemm::wait_for_copies<kPending>();
    __syncwarp();  // chunks of K that other lanes copied are visible
    mine.score(s, unit);
    __syncwarp();  // every lane has read K
    mine.start_keys(k, unit + T::kStages);
    const int key0 = mine.key(unit);
    if (key0 + kKeys > all_see) {
#pragma unroll
      for (int i = 0; i < 8; ++i) {
        const int key = key0 + s_place(lane, i / 4, i % 4).column;
        if (key >= visible[i % 4 / 2]) s[i / 4][i % 4] = -INFINITY;
      }
    }
    mine.weigh(s, c);
    gemm::wait_for_copies<kPending>();
    __syncwarp();  // chunks of V that other lanes copied are visible
    mine.add_values(s, unit);
    __syncwarp();
    mine.start_values(v, unit + T::kStages);
  }

#pragma unroll
  for (int h = 0; h < 2; ++h) {
    mine.sum[h] += __shfl_xor_sync(rows::kAllLanes, mine.sum[h], 1);
    mine.sum[h] += __shfl_xor_sync(rows::kAllLanes, mine.sum[h], 2);
    if (lane % 4 == 0) parts[warp][lane / 4 + 8 * h] = {mine.max[h], mine.sum[h]};
  }
  gemm::wait_for_copies<0>();
  __syncthreads();  // all parts are written, and no ring is in use any more
  auto* const merged = reinterpret_cast<float*>(shared);  // [warp][row][column]
#pragma unroll
  for (int h = 0; h < 2; ++h) {
    const Whole whole = Whole::of(parts, lane / 4 + 8 * h, c);
    const float share =
        whole.sum > 0 ? exp2_of((mine.max[h] - anchor(whole.max)) * c) / whole.sum : 0.0F;
#pragma unroll
    for (int j = 0; j < T::kSlicesV; ++j) {
#pragma unroll
      for (int n = 0; n < 8; n += 4) {
#pragma unroll
        for (int i = 2 * h; i < 2 * h + 2; ++i) {
          const Place at = o_place(lane, j, n, i);
          float4 four = {mine.o[j][n][i], mine.o[j][n + 1][i], mine.o[j][n + 2][i],
                         mine.o[j][n + 3][i]};
          four.x *= share, four.y *= share, four.z *= share, four.w *= share;
          *reinterpret_cast<float4*>(merged + (warp * kRows + at.row) * T::kDim + at.column) = four;
        }
      }
    }
  }
  __syncthreads();
  const std::int64_t row0 = std::int64_t{head} * p.rows;
  const int fours = p.dim / 4;
  for (int i = thread; i < p.rows * fours; i += T::kThreads) {
    const int row = i / fours, column = i % fours * 4;
    float4 sum = {};
#pragma unroll
    for (int w = 0; w < T::kWarps; ++w) {
      const auto four =
          *reinterpret_cast<const float4*>(merged + (w * kRows + row) * T::kDim + column);
      sum.x += four.x, sum.y += four.y, sum.z += four.z, sum.w += four.w;
    }
    if (p.splits == 1) {
      store_four(o + (row0 + row) * p.dim + column, sum);
    } else {
      float* const to = p.partial + (split * p.all_rows + row0 + row) * p.dim + column;
      *reinterpret_cast<float4*>(to) = sum;
    }
  }
  if (thread >= p.rows) return;
  const Whole whole = Whole::of(parts, thread, c);
  float* const to = p.splits == 1 ? lse : p.partial_lse + split * p.all_rows;
  to[row0 + thread] = whole.sum > 0 ? whole.max * p.scale + logf(whole.sum) : -INFINITY;
}

/// O = Σ parts·e^(lse of the part - lse). One block per row: its warps take parts round-robin, a
/// lane four columns, and four more 128 columns further.
template <class Element>
__global__ void __launch_bounds__(32 * kCombineWarps)
    combine_kernel(const __grid_constant__ Decode p, Element* __restrict__ o,
                   float* __restrict__ lse) {
  constexpr int kMostFours = 2;  // float4 of a lane: head dims up to 256
  __shared__ float4 sums[kCombineWarps][32 * kMostFours];
  static_assert(sizeof(sums) == model::kCombineSharedBytes);
  const auto lane = static_cast<int>(threadIdx.x % 32), warp = static_cast<int>(threadIdx.x / 32);
  const auto row = std::int64_t{blockIdx.x};
  wait_for_launch_before();
  // Each warp computes the sum over all parts itself: that takes a load's latency, not a barrier.
  const float* const of_part = p.partial_lse + row;
  float max = -INFINITY, sum = 0;
  for (int s = lane; s < p.splits; s += 32) {
    const float part = of_part[s * p.all_rows], before = max;
    max = fmaxf(max, part);
    sum = sum * exp2_of((before - anchor(max)) * kLog2E) + exp2_of((part - anchor(max)) * kLog2E);
  }
  const float most = rows::warp_max(max);
  const float whole = most + logf(rows::warp_sum(sum * exp2_of((max - anchor(most)) * kLog2E)));
  float4 four[kMostFours] = {};
#pragma unroll 4
  for (int s = warp; s < p.splits; s += kCombineWarps) {
    const float weight = exp2_of((of_part[s * p.all_rows] - anchor(whole)) * kLog2E);
    const float* const from = p.partial + (s * p.all_rows + row) * p.dim;
#pragma unroll
    for (int i = 0; i < kMostFours; ++i) {
      const int column = lane * 4 + i * 128;
      if (column >= p.dim) continue;
      const float4 part = *reinterpret_cast<const float4*>(from + column);
      four[i].x += weight * part.x, four[i].y += weight * part.y;
      four[i].z += weight * part.z, four[i].w += weight * part.w;
    }
  }
#pragma unroll
  for (int i = 0; i < kMostFours; ++i) sums[warp][lane + i * 32] = four[i];
  __syncthreads();
  const auto thread = static_cast<int>(threadIdx.x);
  if (thread == 0) lse[row] = whole;
  if (thread * 4 >= p.dim) return;
  float4 all = sums[0][thread];
#pragma unroll
  for (int w = 1; w < kCombineWarps; ++w) {
    const float4 part = sums[w][thread];
    all.x += part.x, all.y += part.y, all.z += part.z, all.w += part.w;
  }
  store_four(o + row * p.dim + thread * 4, all);
}

using roofcast::attention::head_row;
using roofcast::attention::kDecodeSplits;

Decode decode_of(const Problem& p, const Shape& s) {
  return {static_cast<int>(s.group() * s.seq_q),
          static_cast<int>(s.seq_q),
          static_cast<int>(s.seq_kv),
          static_cast<int>(s.head_dim),
          static_cast<int>(p[kDecodeSplits]),
          s.batch * s.heads * s.seq_q,
          s.causal,
          1 / std::sqrt(static_cast<float>(s.head_dim)),
          nullptr,
          nullptr};
}

template <class Element, std::size_t kTile>
Launch launch_of(std::int64_t blocks) {
  using T = Tile<Element, kTile>;
  return {reinterpret_cast<const void*>(decode_kernel<T>), dim3(static_cast<unsigned>(blocks)),
          dim3(T::kThreads), T::kSharedBytes};
}

template <class Element>
std::vector<Launch> launches_of(const Problem& p) {
  const Shape s(p);
  const std::int64_t blocks = s.batch * s.kv_heads * p[kDecodeSplits];
  const std::size_t tile = head_row(s.head_dim);
  std::vector<Launch> all = {tile == 0   ? launch_of<Element, 0>(blocks)
                             : tile == 1 ? launch_of<Element, 1>(blocks)
                                         : launch_of<Element, 2>(blocks)};
  if (p[kDecodeSplits] > 1) {
    const std::int64_t rows = s.batch * s.heads * s.seq_q;
    all.push_back({reinterpret_cast<const void*>(combine_kernel<Element>),
                   dim3(static_cast<unsigned>(rows)), dim3(32 * kCombineWarps), 0});
  }
  return all;
}

std::vector<Launch> launches(const Problem& p) {
  return p.dtype == DType::fp16 ? launches_of<__half>(p) : launches_of<__nv_bfloat16>(p);
}

std::string unsupported(const Problem& p) {
  if (std::string why = unsupported_shape(p); !why.empty()) return why;
  const Shape s(p);
  if (s.backward) return "attention.decode has no backward pass: use attention.flash2";
  if (s.group() * s.seq_q > model::kMostRows) {
    return "attention.decode takes up to " + std::to_string(model::kMostRows) +
           " queries of the heads that share a key; these are " +
           std::to_string(s.group() * s.seq_q) + ": use attention.flash2";
  }
  const std::int64_t splits = p[kDecodeSplits];
  if (splits < 1 || splits > model::kMostSplits) {
    return "splits must be from 1 to " + std::to_string(model::kMostSplits) + "; asked for " +
           std::to_string(splits);
  }
  if (s.batch * s.kv_heads * splits > std::numeric_limits<int>::max()) {
    return "too many blocks for one grid: choose fewer splits";
  }
  return gemm::fits_device(launches(p).front());
}

Tensors with_scratch(const Problem& p) {
  Tensors all = tensors(p);
  const auto splits = static_cast<std::size_t>(p[kDecodeSplits]);
  if (splits > 1) {
    all.scratch = {{DType::fp32, splits * all.outputs[kOutO].elements},
                   {DType::fp32, splits * all.outputs[kOutLse].elements}};
  }
  return all;
}

void run_on_aligned(const Problem& p, const Addresses& at, cudaStream_t stream) {
  Decode decode = decode_of(p, Shape(p));
  const std::vector<Launch> all = launches(p);
  if (decode.splits > 1) {
    decode.partial = static_cast<float*>(at.scratch[0]);
    decode.partial_lse = static_cast<float*>(at.scratch[1]);
  }
  const void *q = at.inputs[kQ], *k = at.inputs[kK], *v = at.inputs[kV];
  void *o = at.outputs[kOutO], *lse = at.outputs[kOutLse];
  void* arguments[] = {&decode, &q, &k, &v, &o, &lse};
  rows::launch(all[0].function, all[0].grid, all[0].block, arguments, stream,
               {.shared_bytes = all[0].shared_bytes});
  if (decode.splits == 1) return;
  void* of_combine[] = {&decode, &o, &lse};
  rows::launch(all[1].function, all[1].grid, all[1].block, of_combine, stream,
               {.starts_early = true});
}

void run(const Problem& p, const Addresses& at, cudaStream_t stream) {
  run_aligned(p, at, stream, with_scratch, run_on_aligned);
}

constexpr Problem configuration(std::int64_t splits) {
  Problem p{.dtype = DType::bf16, .values = {}};
  p[kDecodeSplits] = splits;
  return p;
}
constexpr std::array kConfigurations = {configuration(roofcast::kToChoose), configuration(1),
                                        configuration(5)};

KernelEntry entry() {
  return attention_entry("attention.decode", kConfigurations, unsupported, with_scratch, launches,
                         run);
}

}  // namespace
}  // namespace decoding

KernelEntry decode() {
  return decoding::entry();
}

}  // namespace roofcast::cuda::attention
