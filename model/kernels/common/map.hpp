#pragma once
#include <algorithm>
#include <array>

#include "model/types/kernel_model.hpp"

namespace roofcast::map {

/// The stream and elementwise kernels: y[i] = op(a[i]), op(a[i], b[i]) or op(a[i], b[i], c[i]).
/// Positions of the values in Problem; the last is 0 where a kernel has no such parameter.
enum Parameter : std::size_t { kElements, kThreads, kVectorBytes, kLoads, kReservedShared };

/// Shape and configuration of every such kernel.
inline constexpr std::array kParameters = {
    roofcast::Parameter{"n", "elements of each array", 1, std::int64_t{1} << 40},
    setting("threads", "threads of a block", 32, 1024, 256),
    setting("vector_bytes", "bytes of one access of a thread: 4, 8 or 16", 4, 16, 16),
    setting("loads", "accesses a thread issues before it uses the first: 1, 2, 4, 8", 1, 8, 1)};

/// Element types of all but the stream kernels.
inline constexpr std::array kTypes = {DType::fp32, DType::fp16, DType::bf16};
/// Array sizes that validation/sweeps/stream.json and elementwise.json measure.
inline constexpr std::array kValidated = {
    ValidatedRange{kElements, std::int64_t{1} << 16, std::int64_t{1} << 30}};

/// Warp instructions of kernels generated at run time, by counters of copies and triads: index and
/// exit; head and tail of vectors of several elements; address, bounds test and predicate.
inline constexpr double kInstructionsPerThread = 16, kInstructionsOfVectors = 28,
                        kInstructionsPerAccess = 8.2;

/// Arithmetic of one element.
struct Cost {
  double flops = 0;         ///< vector FLOP
  double special = 0;       ///< special-function results, at least
  double conversions = 0;   ///< results of the conversion pipe
  double instructions = 0;  ///< without accesses; used where a kernel is generated at run time

  constexpr Cost& operator+=(const Cost& other) {
    flops += other.flops;
    special += other.special;
    conversions += other.conversions;
    instructions += other.instructions;
    return *this;
  }
  constexpr Work work() const {
    return {.vector_flops = flops, .special_flops = special, .conversions = conversions};
  }
};

/// One operation for each element.
struct Operation {
  double reads = 1;   ///< arrays read; a fraction where their elements are smaller
  double writes = 1;  ///< arrays written, likewise
  Cost cost{};
  std::string_view kernel = {};  ///< its name in compiled.inc; empty: generated at run time
};

/// Registers per thread of a kernel generated at run time, a close upper bound: the vectors in
/// flight and 16 to 24 more, at least 32 (full occupancy on every SM so far). From ptxas -v of CUDA
/// 13.0 for compute capability 9.0, for expressions of 1 to 8 inputs.
constexpr std::int64_t generated_registers(DType dtype, std::int64_t inputs,
                                           std::int64_t vector_bytes, std::int64_t loads) {
  const std::int64_t waiting = inputs * loads * vector_bytes / 4;
  if (waiting <= (dtype == DType::fp32 ? 16 : 8)) return 32;
  if (waiting >= 32) return waiting + 24;
  return std::max<std::int64_t>(40, (waiting + 23) / 8 * 8);
}

/// A launch whose blocks have `threads` threads and take `chunk` elements each.
struct Pass {
  std::int64_t elements, threads, chunk;
  std::int64_t registers;
  Work each;             ///< arithmetic of an element
  Traffic bytes;         ///< of an element in all arrays
  double instructions;   ///< of a warp, for all its elements
  double dependent = 0;  ///< length of a thread's longest chain of dependent operations
};
/// The plan of a launch, still without arrays.
Plan plan_of(const Pass& pass);

/// Throws InputError for an access narrower than an element, or for which no kernel is compiled.
Plan plan(const Operation& operation, const Problem& problem);

}  // namespace roofcast::map
