#pragma once
// Sweeps of a block's threads (along x) over a row in memory, in batches of independent 16-byte
// accesses. A row may have any length, because no thread holds its elements.
#include <cstdint>

#include "kernels/common/rows.cuh"

namespace roofcast::cuda::rows {

/// Accesses a thread issues before it uses the first: 64 bytes a thread in flight.
constexpr int kBatch = 4;

/// Calls visit(float (&values)[N]) for each vector and edge element of this thread, with kPad for
/// elements beyond the row.
template <bool kAligned, Pad kPad, class T, class Visit>
__device__ void read_row(const T* row, const RowShape<T>& shape, Visit&& visit) {
  const int thread = static_cast<int>(threadIdx.x), threads = static_cast<int>(blockDim.x);
  const T* const body = row + shape.head;
#pragma unroll 1
  for (int first = thread; first < shape.body; first += kBatch * threads) {
    Packed in[kBatch];
#pragma unroll
    for (int i = 0; i < kBatch; ++i) {
      const int at = first + i * threads;
      in[i] = padding<T, kPad>();
      if (at < shape.body) in[i] = load_packed<kAligned>(body + std::int64_t{at} * kWidth<T>);
    }
#pragma unroll
    for (int i = 0; i < kBatch; ++i) {
      float values[kWidth<T>];
      unpack<T>(in[i], values);
      visit(values);
    }
  }
  const int edge = shape.edge_column(thread);
  float value[1] = {edge < shape.cols ? widen(row[edge]) : kPadValue<kPad>};
  visit(value);
}

/// to[c] = map(from[c]) for this thread's elements.
template <bool kAligned, class T, class Map>
__device__ void map_row(const T* from, T* to, const RowShape<T>& shape, Map&& map) {
  const int thread = static_cast<int>(threadIdx.x), threads = static_cast<int>(blockDim.x);
  const auto position = [&](int at) { return shape.head + std::int64_t{at} * kWidth<T>; };
#pragma unroll 1
  for (int first = thread; first < shape.body; first += kBatch * threads) {
    Packed in[kBatch];
#pragma unroll
    for (int i = 0; i < kBatch; ++i) {
      const int at = first + i * threads;
      if (at < shape.body) in[i] = load_packed<kAligned>(from + position(at));
    }
#pragma unroll
    for (int i = 0; i < kBatch; ++i) {
      const int at = first + i * threads;
      if (at >= shape.body) continue;
      float values[kWidth<T>];
      unpack<T>(in[i], values);
#pragma unroll
      for (int e = 0; e < kWidth<T>; ++e) values[e] = map(values[e]);
      store_packed<kAligned>(to + position(at), pack<T>(values));
    }
  }
  const int edge = shape.edge_column(thread);
  if (edge < shape.cols) to[edge] = narrow<T>(map(widen(from[edge])));
}

}  // namespace roofcast::cuda::rows
