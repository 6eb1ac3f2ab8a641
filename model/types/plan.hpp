#pragma once
// A plan says what a kernel does, counted; it never says how long that takes. The laws do, and
// they know no kernel.
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "model/types/launch.hpp"
#include "model/types/prediction.hpp"
#include "model/types/problem.hpp"
#include "model/types/work.hpp"

namespace roofcast {

/// What one block does in one step of its main loop, or once before and after it.
/// Instructions are warp instructions, summed over the block's warps.
struct Step {
  double vector_flops = 0;       ///< on the SIMT pipes
  double special_ops = 0;        ///< thread results of the special-function unit
  double conversions = 0;        ///< thread results of the conversion pipe
  double instructions = 0;       ///< all warp instructions issued
  double shared_wavefronts = 0;  ///< cycles of the data pipe for shared memory, conflicts counted
  double l1_wavefronts = 0;      ///< the same for global memory through L1
  double l1_lookups = 0;         ///< distinct lines touched, summed over warp accesses
  double l2_bytes = 0;           ///< to and from L2
  double global_round_trips =
      0;                       ///< dependent waits for L2 or DRAM that nothing in the block hides
  double tile_load_waits = 0;  ///< dependent waits of a whole block for a tile from global memory
  double shared_round_trips = 0;  ///< dependent waits for shared memory
  double dependent_fmas = 0;      ///< length of the longest chain of dependent arithmetic
  double barriers = 0;
};

/// What each block does: `once`, then `step` over and over.
struct BlockWork {
  double steps = 1;
  Step step;
  Step once;
};

/// The tiles of a product in the order in which blocks run, for what L2 can keep between blocks and
/// waves: down `group_rows` tile rows, then the next tile column, and so to the last column; then
/// the next group. A walk down whole columns first is the same with rows and columns exchanged.
struct TileRaster {
  std::int64_t tile_rows = 1;
  std::int64_t tile_columns = 1;
  std::int64_t group_rows = 1;    ///< 1: plain row order
  double row_panel_bytes = 0;     ///< of the operand that the tiles of one tile row share
  double column_panel_bytes = 0;  ///< of the operand that the tiles of one tile column share
};

/// Bytes read again (or overwritten) after `distance_bytes` of other data went through L2.
struct Reuse {
  double read_bytes = 0;
  double write_bytes = 0;
  double distance_bytes = 0;
};

/// What every block reads again in a later pass over data of its own. Until then each block that
/// runs beside it moves `distance_bytes` of other data through L2.
struct Reread {
  double bytes = 0;           ///< of one block
  double distance_bytes = 0;  ///< of one resident block
};

/// How accesses fall on L2 and DRAM that do not come in whole lines one after the other.
struct Scatter {
  double read_density = 1;  ///< share of the DRAM around its reads that a kernel's reads touch
  double partial_write_sectors = 0;  ///< written in part: L2 merges each with what it holds
  /// Written in parts by warps apart in time: a sector stays incomplete while the resident blocks
  /// move their traffic through L2.
  double open_write_bytes = 0;
};

/// One kernel launch.
struct Plan {
  Launch launch;
  DType compute = DType::fp32;       ///< type of the vector and tensor arithmetic
  Work total;                        ///< dram stays empty: the memory law fills it in
  BlockWork block;                   ///< all blocks do the same: edge tiles compute the full tile
  std::optional<TileRaster> raster;  ///< absent: every byte is touched once
  Reuse reuse;                       ///< of what earlier launches of the chain left in L2
  std::vector<Reuse> more_reuse;     ///< the same for arrays last used at other distances
  std::vector<Reread> rereads;       ///< later passes of a block over its own data
  Scatter scatter;
  double on_chip_bytes = 0;  ///< registers and shared memory a block computes from
  std::vector<TrafficReason> traffic_reasons;  ///< where the access pattern wastes bytes
  std::string_view caveat;                     ///< what in the plan is an estimate; empty: nothing
  double repeats = 1;                          ///< launches like this one, one after the other
};

/// All that earlier launches of the chain may have left in L2, at whatever distance.
inline Traffic reused(const Plan& plan) {
  Traffic sum{plan.reuse.read_bytes, plan.reuse.write_bytes};
  for (const Reuse& more : plan.more_reuse) sum += {more.read_bytes, more.write_bytes};
  return sum;
}

/// The launches of one kernel variant, in order.
using Plans = std::vector<Plan>;

}  // namespace roofcast
