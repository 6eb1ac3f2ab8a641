#pragma once
// What the plans of the softmax kernels are put together from.
#include <array>
#include <cstdint>

#include "model/kernels/common/rows.hpp"
#include "model/kernels/softmax/counts.hpp"
#include "model/types/kernel_model.hpp"

namespace roofcast::softmax {

/// Whether elements have 16 bits.
inline bool narrow(const Problem& p) {
  return size_bytes(p.dtype) == 2;
}
/// Of a table for fp32 and for 16 bits.
template <class Counted>
const Counted& of_type(const std::array<Counted, 2>& table, const Problem& p) {
  return table[narrow(p) ? 1 : 0];
}

/// Bytes of the matrix, as requested and in whole sectors, warp by warp and joined along rows.
struct MatrixBytes {
  double requested;
  double accessed;
  double distinct;
};
MatrixBytes matrix_bytes(const Problem& p, const rows::Layout& layout);

/// x in and y out, and the arithmetic that they need.
void set_arrays(Plan& plan, const Problem& p, const PerElement& each, const MatrixBytes& bytes);

/// Elements that a block's threads handle, those beyond the row with them.
Step arithmetic(const Problem& p, const PerElement& each, double elements);

/// The compiler stores 16 bytes of a thread as four parts, by the counters of every variant but
/// cluster. `warps` of a block store together.
inline constexpr double kStoreParts = 4;
void split_stores(Plan& plan, const MatrixBytes& bytes, double warps);

/// The variants that sweep over a row: three times, and twice.
LaunchSequence plan_three_pass(const Problem& p, const Gpu& gpu);
LaunchSequence plan_online(const Problem& p, const Gpu& gpu);

}  // namespace roofcast::softmax
