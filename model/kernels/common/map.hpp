#pragma once
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "model/types/dtype.hpp"
#include "model/types/kernel_model.hpp"
#include "model/types/plan.hpp"
#include "model/types/problem.hpp"
#include "model/types/work.hpp"

namespace roofcast::map {

/// y[i] = op(a[i]), op(a[i], b[i]) or op(a[i], b[i], c[i]): what stream and elementwise kernels
/// share. Positions of the values in Problem.
enum Parameter : std::size_t { kElements, kThreads, kVectorBytes, kLoads, kReservedShared };

inline constexpr std::int64_t kMaxElements = std::int64_t{1} << 40;

/// The shape and configuration of every such kernel.
inline constexpr std::array kParameters = {
    roofcast::Parameter{"n", "elements of each array", 1, kMaxElements, std::nullopt},
    setting("threads", "threads of a block", 32, 1024, 256),
    setting("vector_bytes", "bytes of one access of a thread: 4, 8 or 16", 4, 16, 16),
    setting("loads", "accesses a thread issues before it uses the first: 1, 2, 4, 8", 1, 8, 1)};

/// Of kernels that can be held to a lower occupancy (others leave 0 there): so that fewer blocks
/// fit an SM, each reserves shared memory that it does not use.
inline constexpr roofcast::Parameter kReservedSharedParameter =
    setting("reserved_shared_bytes", "shared memory a block reserves and does not use (bytes)", 0,
            std::int64_t{227} * 1024, 0);

/// Elements of the arrays in validation/sweeps/stream.json and elementwise.json.
inline constexpr std::array kValidated = {
    ValidatedRange{kElements, std::int64_t{1} << 16, std::int64_t{1} << 30}};

/// What kernels generated at run time take beside their arithmetic, by the counters of copies and
/// triads: index and exit; head and tail of vectors of several elements; address, bounds test and
/// predicate of an access.
inline constexpr double kInstructionsPerThread = 16, kInstructionsOfVectors = 28,
                        kInstructionsPerAccess = 8.2;
/// Of the instructions, those that wait for the one before: addresses, tests, conversions. By the
/// time that blocks alone on an SM take.
inline constexpr double kDependentShare = 0.5;

/// Work of one operation for each element.
struct Operation {
  double reads = 1;              ///< arrays read
  double writes = 1;             ///< arrays written
  double flops = 0;              ///< vector FLOP an element
  double special = 0;            ///< special-function results an element, at the least
  std::string_view kernel = {};  ///< its name in compiled.inc; empty: generated at run time
  double conversions = 0;        ///< results of the conversion pipe an element
  /// Instructions of a thread for an element, besides the accesses, where no machine code says.
  double instructions = 1;
};

/// What a kernel generated at run time may take at most, and takes about: the vectors that wait for
/// each other, and some 16 registers for addresses and arithmetic. The bound keeps 32, with which
/// every SM so far is full, where that is enough. From expressions of 1 to 8 inputs by ptxas -v of
/// CUDA 13.0 for compute capability 9.0.
constexpr std::int64_t generated_registers(DType dtype, std::int64_t inputs,
                                           std::int64_t vector_bytes, std::int64_t loads) {
  const std::int64_t waiting = inputs * loads * vector_bytes / 4;
  if (waiting <= (dtype == DType::fp32 ? 16 : 8)) return 32;
  if (waiting >= 32) return waiting + 24;
  return std::max<std::int64_t>(40, (waiting + 23) / 8 * 8);
}

/// How elements are spread: over threads of blocks, each of which takes `chunk` of them.
struct Spread {
  std::int64_t elements, threads, chunk;
  double element_bytes;
};
/// Work of a launch for each element, without its arrays.
struct Pass {
  std::int64_t registers;
  Work each;            ///< arithmetic
  Traffic arrays;       ///< read and written
  double instructions;  ///< of a warp, for all its elements
  double round_trips = 1;
  double dependent = 0;  ///< operations of a thread, one after the other
};
Plan plan_of(const Spread& spread, const Pass& pass);

/// The launch of one such kernel. Throws InputError for an access narrower than an element.
Plan plan(const Operation& operation, const Problem& problem);

}  // namespace roofcast::map
