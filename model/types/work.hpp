#pragma once
#include "model/types/by_key.hpp"
#include "model/types/dtype.hpp"

namespace roofcast {

using FlopsByType = ByKey<DType, double, kAllDTypes.size()>;

/// Bytes read and bytes written.
struct Traffic {
  double read_bytes = 0;
  double write_bytes = 0;

  constexpr double total_bytes() const { return read_bytes + write_bytes; }
  constexpr Traffic& operator+=(const Traffic& other) {
    read_bytes += other.read_bytes;
    write_bytes += other.write_bytes;
    return *this;
  }
  friend constexpr Traffic operator+(Traffic a, const Traffic& b) { return a += b; }
  friend constexpr Traffic operator*(double n, const Traffic& a) {
    return {n * a.read_bytes, n * a.write_bytes};
  }
  friend constexpr Traffic operator/(const Traffic& a, double n) {
    return {a.read_bytes / n, a.write_bytes / n};
  }
};

/// Work counted from the algorithm. Works add up; n · work is the work repeated n times.
///
/// Traffic by level: `requested` counts repeats; `l1` whole sectors, once per warp access; `l2` is
/// less by L1 hits; `dram` is at least `dram_footprint`, less what L2 already holds.
///
/// Conventions: a fused multiply-add is 2 FLOP; a special function (tanh, exp, rcp) is 1; data
/// movement, index arithmetic and conversions are 0.
struct Work {
  double vector_flops = 0;     ///< on the SIMT pipes, in the problem's type
  FlopsByType tensor_flops{};  ///< on the tensor cores
  double special_flops = 0;    ///< on the special-function unit
  double conversions = 0;      ///< results of the conversion pipe; no FLOP
  Traffic requested{};         ///< accessed by threads in global memory, repeats counted
  Traffic l1{};                ///< whole sectors between threads and L1
  Traffic l2{};                ///< between the SMs and L2
  Traffic dram_footprint{};    ///< each DRAM access touched, once: the least that DRAM can move
  Traffic dram{};              ///< between L2 and DRAM
  Traffic compulsory{};        ///< each input read once, each output written once
  double shared_bytes = 0;     ///< through shared memory, both ways

  constexpr double flops() const { return vector_flops + tensor_flops.total() + special_flops; }

  constexpr Work& operator+=(const Work& other) {
    vector_flops += other.vector_flops;
    tensor_flops += other.tensor_flops;
    special_flops += other.special_flops;
    conversions += other.conversions;
    requested += other.requested;
    l1 += other.l1;
    l2 += other.l2;
    dram_footprint += other.dram_footprint;
    dram += other.dram;
    compulsory += other.compulsory;
    shared_bytes += other.shared_bytes;
    return *this;
  }
  friend constexpr Work operator+(Work a, const Work& b) { return a += b; }
  friend constexpr Work operator*(double n, const Work& a) {
    return {n * a.vector_flops, n * a.tensor_flops,   n * a.special_flops,
            n * a.conversions,  n * a.requested,      n * a.l1,
            n * a.l2,           n * a.dram_footprint, n * a.dram,
            n * a.compulsory,   n * a.shared_bytes};
  }
};

}  // namespace roofcast
