#pragma once
// A warp of attention.decode: copies of its keys, scores, weights and sums. decode.cu says why.
#include <cuda_runtime.h>

#include <cmath>
#include <cstdint>

#include "kernels/attention/decode_layout.cuh"
#include "kernels/common/exponential.cuh"
#include "kernels/common/rows.cuh"
#include "kernels/gemm/mma.cuh"
#include "kernels/gemm/tile_copy.cuh"
#include "model/kernels/attention/tiles.hpp"

namespace roofcast::cuda::attention::decoding {

namespace model = roofcast::attention::decoding;

static_assert(kKeys == model::kUnitKeys);
inline constexpr int kRows = static_cast<int>(model::kMostRows);

template <class Element_, std::size_t kTile>
struct Tile {
  using Element = Element_;
  static constexpr model::Tile kModel = model::kTiles[kTile];
  static constexpr int kDim = static_cast<int>(kModel.head_dim);
  static constexpr int kWarps = static_cast<int>(kModel.warps), kThreads = 32 * kWarps;
  static constexpr int kStages = static_cast<int>(kModel.stages), kBlocks = kModel.blocks;
  static constexpr int kSlicesD = d_slices(kDim), kSlicesV = kDim / kSlice;
  static constexpr int kChunks = kKeys * kDim / kWidth / 32;  // of K per lane and unit, and of V
  static constexpr int kRowsAtOnce = rows_at_once(kDim);
  static constexpr int kHalfBytes = kChunks * 32 * 16;  // K of a stage, then V
  static constexpr int kStageBytes = 2 * kHalfBytes;
  static constexpr int kRingBytes = kWarps * kStages * kStageBytes;
  static constexpr int kSharedBytes = kRingBytes + kRows * kDim * 2;  // Q
  static_assert(kChunks == 2 * kSlicesD && kChunks == 4 * kSlicesV);
  static_assert(kSharedBytes == kModel.shared_bytes());
  static_assert(kWarps * kRows * kDim * 4 <= kRingBytes);  // parts of warps are added there
};

/// Copies 16 bytes, or zeros if !inside; `from` is then not read. L2 fetches the whole line.
__device__ inline void copy_chunk(unsigned to, const void* from, bool inside) {
  asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16, %2;" ::"r"(to), "l"(from),
               "r"(inside ? 16 : 0)
               : "memory");
}
__device__ inline uint4 read_chunk(unsigned from) {
  uint4 chunk;
  asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(chunk.x), "=r"(chunk.y), "=r"(chunk.z), "=r"(chunk.w)
               : "r"(from)
               : "memory");
  return chunk;
}

/// A warp's keys, with the maxima, sums and O of them so far.
template <class T>
struct Warp {
  using Element = typename T::Element;

  int lane, seq_kv, dim;
  unsigned ring;  ///< shared address of the warp's first stage
  unsigned q;     ///< shared address of the lane's first chunk of Q; all warps share Q
  int first;      ///< key of unit 0; units are T::kWarps units apart
  int units;

  float o[T::kSlicesV][8][4] = {};
  float max[2] = {-INFINITY, -INFINITY},
        sum[2] = {};  // of rows lane/4 and lane/4 + 8; sum: this lane's part

  __device__ int key(int unit) const { return first + unit * T::kWarps * kKeys; }
  __device__ unsigned stage(int unit) const {
    return ring + static_cast<unsigned>(unit % T::kStages * T::kStageBytes);
  }

  /// Starts copying a unit's rows of `matrix`; a chunk goes to offset(chunk). The pointer
  /// advances from row to row, since sixteen offsets would take sixteen registers.
  template <class OffsetOf>
  __device__ void start(const Element* matrix, int unit, unsigned to, OffsetOf offset) const {
    if (unit < units) {
      const Place first_of_lane = copied_chunk<T::kDim>(lane, 0);
      const int row = key(unit) + first_of_lane.row;
      const int rows_left = first_of_lane.column < dim ? seq_kv - row : 0;
      const Element* from = matrix + std::int64_t{row} * dim + first_of_lane.column;
#pragma unroll
      for (int i = 0; i < T::kChunks; ++i) {
        copy_chunk(to + static_cast<unsigned>(offset(copied_chunk<T::kDim>(lane, i))), from,
                   i * T::kRowsAtOnce < rows_left);
        from += T::kRowsAtOnce * dim;
      }
    }
    gemm::commit_copies();  // also when empty: groups are counted
  }
  __device__ void start_keys(const Element* k, int unit) const {
    start(k, unit, stage(unit), [](Place chunk) { return k_offset<T::kDim>(chunk); });
  }
  __device__ void start_values(const Element* v, int unit) const {
    start(v, unit, stage(unit) + T::kHalfBytes, v_offset);
  }

  /// Adds the scores of a unit to s; s[tile] has eight keys.
  __device__ void score(float (&s)[2][4], int unit) const {
    float other[2][4] = {};  // sums of a slice's second instruction: shorter chains
#pragma unroll
    for (int c = 0; c < T::kSlicesD; ++c) {
      const uint4 upper = read_chunk(q + (2 * c) * 512), lower = read_chunk(q + (2 * c + 1) * 512);
      unsigned a[2][4];
      q_operand(a[0], upper, lower, 0);
      q_operand(a[1], upper, lower, 1);
#pragma unroll
      for (int tile = 0; tile < 2; ++tile) {
        const uint4 chunk = read_chunk(
            stage(unit) + static_cast<unsigned>(k_offset<T::kDim>(k_chunk(lane, c, tile))));
        unsigned b[2];
        k_operand(b, chunk, 0);
        gemm::multiply_accumulate<Element>(s[tile], a[0], b[0], b[1]);
        k_operand(b, chunk, 1);
        gemm::multiply_accumulate<Element>(other[tile], a[1], b[0], b[1]);
      }
    }
#pragma unroll
    for (int i = 0; i < 8; ++i) s[i / 4][i % 4] += other[i / 4][i % 4];
  }

  /// Turns scores into weights relative to the rows' largest score so far; c = scale·log2 e.
  /// Rescales O and the sums where a maximum grew.
  __device__ void weigh(float (&s)[2][4], float c) {
    float before[2];
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      float most = fmaxf(fmaxf(s[0][2 * h], s[0][2 * h + 1]), fmaxf(s[1][2 * h], s[1][2 * h + 1]));
      most = fmaxf(most, __shfl_xor_sync(rows::kAllLanes, most, 1));
      most = fmaxf(most, __shfl_xor_sync(rows::kAllLanes, most, 2));
      before[h] = max[h];
      max[h] = fmaxf(max[h], most);
    }
    if (__any_sync(rows::kAllLanes, max[0] > before[0] || max[1] > before[1])) {
#pragma unroll
      for (int h = 0; h < 2; ++h) {
        const float factor = exp2_of((before[h] - anchor(max[h])) * c);
        sum[h] *= factor;
#pragma unroll
        for (int n = 0; n < 8 * T::kSlicesV; ++n) {
          o[n / 8][n % 8][2 * h] *= factor, o[n / 8][n % 8][2 * h + 1] *= factor;
        }
      }
    }
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      const float shift = anchor(max[h]);
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        float& one = s[i / 2][2 * h + i % 2];
        one = exp2_of((one - shift) * c);
        sum[h] += one;
      }
    }
  }

  /// O += P·V of a unit.
  __device__ void add_values(const float (&s)[2][4], int unit) {
    const unsigned p[4] = {
        gemm::pair_of<Element>(s[0][0], s[0][1]), gemm::pair_of<Element>(s[0][2], s[0][3]),
        gemm::pair_of<Element>(s[1][0], s[1][1]), gemm::pair_of<Element>(s[1][2], s[1][3])};
#pragma unroll
    for (int j = 0; j < T::kSlicesV; ++j) {
      uint4 chunk[4];
#pragma unroll
      for (int e = 0; e < 4; ++e) {
        chunk[e] = read_chunk(stage(unit) + T::kHalfBytes +
                              static_cast<unsigned>(v_offset(v_chunk(lane, j, e))));
      }
#pragma unroll
      for (int n = 0; n < 8; ++n) {
        unsigned b[2];
        v_operand(b, chunk, n);
        gemm::multiply_accumulate<Element>(o[j][n], p, b[0], b[1]);
      }
    }
  }
};

}  // namespace roofcast::cuda::attention::decoding
