#pragma once
// Internal to model/kernels/access*.cpp: counting the accesses of a launch.
#include <algorithm>
#include <span>
#include <string_view>
#include <vector>

#include "model/counting/coalescing.hpp"
#include "model/counting/dram_access.hpp"
#include "model/counting/shared_banks.hpp"
#include "model/kernels/access/access.hpp"
#include "model/kernels/common/plan_parts.hpp"
#include "model/kernels/compiled.hpp"
#include "model/types/gpu.hpp"
#include "model/types/plan.hpp"

namespace roofcast::access {

/// Over all warps of a launch.
struct Counts {
  double l1_load_sectors = 0;
  double l2_load_sectors = 0;
  double store_sectors = 0;
  double lookups = 0;     ///< lines, over loads and stores
  double wavefronts = 0;  ///< of the data pipe
  /// Of each warp, by the counters where not said otherwise.
  double warp_instructions = 0;
};

inline double sectors_in_order(std::int64_t elements, std::int64_t bytes) {
  return as_double((elements * bytes + kSectorBytes - 1) / kSectorBytes);
}

/// A grid of threads over an array or a matrix, and what of all accesses a block in its inside has.
struct Grid {
  std::array<std::int64_t, 3> blocks{1, 1, 1};
  std::array<std::int64_t, 3> threads{kThreads, 1, 1};
  double share_of_full_block = 1;
};

/// One access a thread; the caller sets the registers and the arrays. `requested`: by all threads.
Plan one_access_a_thread(const Grid& grid, const Traffic& requested, const Counts& counts);
Plan one_access_a_thread(std::int64_t threads, const Traffic& requested, const Counts& counts);

/// Throws InputError unless `value` is a multiple of `of`, the width of an access.
void require_multiple(std::string_view what, std::int64_t value, std::int64_t of);

/// Units touched by `accesses` lanes, warp after warp; every warp begins on the same alignment.
double units_of_warps(WarpAccess access, std::int64_t accesses, std::int64_t unit_bytes);

/// What the threads of one block load: sectors warp by warp, and over the block.
struct BlockLoads {
  double l1_sectors = 0;
  double l2_sectors = 0;
  double lines = 0;
  double wavefronts = 0;
};

BlockLoads block_loads(std::span<const std::int64_t> starts, std::int64_t access_bytes);

/// Σ over the threads [first, end) of a launch, block by block, `times` over.
template <class Start>
void add_blocks(BlockLoads& sum, std::int64_t first, std::int64_t end, std::int64_t access_bytes,
                double times, const Start& start) {
  std::vector<std::int64_t> starts;
  for (; first < end; first += kThreads) {
    starts.clear();
    for (std::int64_t i = first; i < std::min(end, first + kThreads); ++i) {
      starts.push_back(start(i));
    }
    const BlockLoads block = block_loads(starts, access_bytes);
    sum.l1_sectors += times * block.l1_sectors;
    sum.l2_sectors += times * block.l2_sectors;
    sum.lines += times * block.lines;
    sum.wavefronts += times * block.wavefronts;
  }
}

/// The loads of n threads whose pattern repeats every `period` threads, a multiple of the block.
template <class Start>
BlockLoads periodic_loads(std::int64_t n, std::int64_t period, std::int64_t access_bytes,
                          const Start& start) {
  BlockLoads sum;
  add_blocks(sum, 0, std::min(n, period), access_bytes, std::max(1.0, as_double(n / period)),
             start);
  if (n > period) add_blocks(sum, 0, n % period, access_bytes, 1, start);
  return sum;
}

LaunchSequence plan_strided(const Problem& problem, const Gpu& gpu);
LaunchSequence plan_offset(const Problem& problem, const Gpu& gpu);
LaunchSequence plan_gather(const Problem& problem, const Gpu& gpu);
LaunchSequence plan_row_wise(const Problem& problem, const Gpu& gpu);
LaunchSequence plan_column_wise(const Problem& problem, const Gpu& gpu);
LaunchSequence plan_shared(const Problem& problem, const Gpu& gpu);

}  // namespace roofcast::access
