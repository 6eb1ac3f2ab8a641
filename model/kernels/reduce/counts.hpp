#pragma once
// What the reductions' compiled code holds, counted.
#include <cstdint>

#include "model/kernels/compiled.hpp"

namespace roofcast::reduce {

/// The kernel of the first launch.
inline compiled::Kernel kernel_of(bool weighted, bool ragged, DType type) {
  return weighted ? compiled::kernel("reduce::weighted_kernel", type, !ragged)
                  : compiled::kernel("reduce::sum_kernel", type);
}

// A warp's part in a step, counted in the machine code for compute capability 9.0 (CUDA 13.0; the
// counters agree within 5%). Cycles that the issue of dependent instructions is held back beyond
// one each count as dependent operations of 4.
struct Code {
  double instructions = 0;
  double dependent = 0;
  double shared = 0;  // shuffles, shared memory, constants and special registers waited for
};
struct Batch {
  Code code;
  // Accesses of a row that a thread has issued when it waits for one of them: the address register
  // of a later one shares its scoreboard. 0: all are in flight together.
  std::int64_t before_wait = 0;
};

inline Batch batch_of(bool weighted, bool ragged, DType type) {
  const bool narrow = size_bytes(type) == 2;
  const double counted = kernel_of(weighted, ragged, type).loops[0];
  if (!weighted) return narrow ? Batch{{counted, 12}} : Batch{{counted, 7}, 2};
  if (!ragged) return {{counted, narrow ? 33.0 : 21.0}};
  return narrow ? Batch{{counted, 50}} : Batch{{counted, 0}, 3};
}

// Before the first batch and after the last one; waited for is only what comes after: what a launch
// does before its first access is in Sustained::first_access_s. `alone`: a warp a chunk, which
// meets no other.
inline Code ends_of(bool weighted, bool alone) {
  if (weighted) return alone ? Code{165, 40, 5} : Code{245, 73, 10};
  return alone ? Code{120, 18, 5} : Code{145, 32, 12};
}

// The second launch: before its first load, after the last; eight loads together, one by itself.
inline Code finish_ends(bool alone) {
  return alone ? Code{79, 50, 9} : Code{107, 63, 15};
}
inline constexpr std::int64_t kFinishUnrolled = 8;
inline constexpr double kDependentOfEight = 10, kDependentOfOne = 4;

}  // namespace roofcast::reduce
