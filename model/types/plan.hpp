#pragma once
// A plan counts what a kernel does; the laws, which know no kernel, turn it into time. Issued work
// is stored once, by block class and phase; counting/totals.hpp adds it up.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "model/types/gpu.hpp"
#include "model/types/launch.hpp"
#include "model/types/prediction.hpp"
#include "model/types/work.hpp"

namespace roofcast {

/// Wavefronts (cycles of the shared-memory and L1 pipe) and requests of all warps in a step.
struct Wavefronts {
  double shared = 0;      ///< accesses to shared memory, with bank conflicts
  double l1 = 0;          ///< accesses to global memory through L1
  double l1_lookups = 0;  ///< distinct lines of an access, summed over warp accesses
  double operands = 0;    ///< operand reads of matrix instructions from shared memory
  double copies = 0;      ///< requests of the copy engine (TMA) to L2, at most 64 bytes each
};

/// Dependent latencies of a block's step that nothing else in the block hides (counts).
struct Waits {
  double global = 0;      ///< round trips of loads from global memory
  double tile_loads = 0;  ///< waits until all copies of a tile have arrived
  double shared = 0;      ///< round trips to shared memory; a shuffle counts as one
  double arithmetic = 0;  ///< operations in the longest dependent chain
  double barriers = 0;
  double cluster_exchanges = 0;  ///< a store to each block of a cluster, then its barrier
};

/// What one block does in one step. `issued.requested`, `.l1` and `.l2` are its traffic at each
/// level; `.l2` counts every repeated read, of which L1 may serve those in Plan::reuse.
struct Step {
  Work issued{};
  double warp_instructions = 0;
  /// Code that the block runs from here on, each instruction once, where it is long (bytes).
  double code_bytes = 0;
  Wavefronts wavefronts{};
  Waits waits{};
};

/// A step that a block repeats `repeats` times.
struct Phase {
  Step step;
  double repeats = 1;
  double ahead = 0;  ///< prefetch distance in steps: stages less those in use
  /// Groups of warps that run the step independently. 0: one group if the warps meet at a barrier
  /// or loads run ahead, else each warp is a group.
  double groups = 0;
  double chains = 1;           ///< products in flight in a group, or operands held ahead
  double waited_products = 1;  ///< share of products waited for; the rest overlap the next step
};

/// Blocks that do the same work; of persistent blocks, `count` is their tiles.
struct BlockClass {
  std::int64_t count = 0;
  std::vector<Phase> phases;
};

/// How blocks and tiles are assigned to SMs.
enum class TileScheduler : unsigned char {
  hardware,    ///< a block starts on an SM as soon as one has ended there
  persistent,  ///< static: tile i + n·slots follows tile i in the same slot
  ping_pong,   ///< persistent, two tiles in flight: one's epilogue overlaps the other's main loop
  queue,       ///< persistent, dynamic: a block takes the next tile when it has finished one
};

/// Whether blocks stay resident and process tile after tile.
constexpr bool is_persistent(TileScheduler scheduler) {
  return scheduler != TileScheduler::hardware;
}

/// The order in which blocks run the tiles of a GEMM, which decides reuse in L2: down `group_rows`
/// tile rows, column by column, then the next group of rows. A raster along columns first is
/// described with rows and columns exchanged.
struct TileRaster {
  std::int64_t tile_rows = 1;
  std::int64_t tile_columns = 1;
  std::int64_t group_rows = 1;    ///< 1: plain row order
  double row_panel_bytes = 0;     ///< operand panel that the tiles of a tile row share
  double column_panel_bytes = 0;  ///< operand panel that the tiles of a tile column share
};

/// How the accesses to an array differ from whole lines in address order.
struct AccessPattern {
  /// Bytes read ÷ bytes of DRAM that the reads span together: the less, the more each byte costs.
  double read_density = 1;
  /// Blocks out of step read neighbouring DRAM at different times: the cost of DRAM then uses
  /// out_of_step_read_density in place of `read_density`.
  bool out_of_step = false;
  double partial_writes = 0;  ///< stores that cover part of a line (count): L2 merges each
  /// Bytes of sectors that are written in parts. L2 may evict such a sector before its last part:
  /// meanwhile the traffic of the resident blocks, or of `open_for_blocks` if more, passes L2.
  double open_write_bytes = 0;
  double open_for_blocks = 0;
  /// A block writes runs of `write_run_bytes` of a row; the next run of the row is written
  /// `blocks_to_next_run` blocks later. 0: rows are written from end to end.
  double write_run_bytes = 0;
  double blocks_to_next_run = 0;
  /// Sectors at the ends of runs that two runs share, counted in both.
  double shared_run_ends = 0;
};

/// Independent accesses to random sectors of a table.
struct RandomReads {
  double sectors = 0;         ///< accessed; lanes of a warp in the same sector count once
  double table_bytes = 0;     ///< size of the table, from which each sector is drawn
  double streamed_lines = 0;  ///< lines of single-use data that accompany each access
};

/// Stores of one part of every sector they touch; later stores of the warp write the rest.
struct SplitWrites {
  double sectors = 0;  ///< each written by `parts` stores
  double parts = 1;
  double bytes_between = 0;  ///< written by the block's warps between two parts of a sector
};

/// Number of an array in a launch sequence; equal numbers are the same memory.
using ArrayId = int;

/// What a launch does with one array in global memory.
struct ArrayUse {
  ArrayId array = 0;
  Traffic compulsory;  ///< each input read once, each output written once; 0 for scratch
  Traffic footprint;   ///< each DRAM access touched, once: the least that DRAM can move
  AccessPattern pattern{};
  std::optional<RandomReads> random{};  ///< random reads: the laws count their bytes at L2 and DRAM
  std::optional<SplitWrites> split{};   ///< split stores: the laws count the parts that L1 merges
  /// Usually the output of an earlier kernel (x of row kernels, A of a GEMM), not weights. In
  /// CacheState::warm L2 holds as much of it as fits.
  bool activation = false;
  /// Reuse distance: bytes through L2 until a later launch uses the array again; a cold forecast
  /// ignores it. Absent: in CacheState::repeated the bytes of all arrays, else never used again.
  std::optional<double> returns_after_bytes{};
  /// Position among the kernel's inputs; absent: the position in Plan::arrays.
  std::optional<std::size_t> input{};
};

/// The blocks that read the same bytes.
enum class Scope : unsigned char {
  block,  ///< one block, repeatedly: from L1, else L2
  sm,     ///< all blocks of an SM
};

/// Repeated reads that L1 may serve; Step::issued counts each of them at L2.
struct Reuse {
  Scope scope = Scope::block;
  double bytes = 0;           ///< reads of the launch: all (sm), all but the first (block)
  double distinct_bytes = 0;  ///< size of the shared data (sm)
  /// Bytes through L1 between two uses: of one resident block (block), of all (sm).
  double distance_bytes = 0;
  /// Bytes of one resident block through L2 between two uses (block).
  double l2_distance_bytes = 0;
};

/// Bytes that blocks receive without their own L2 access: cluster multicast, zero fill beyond an
/// edge, and lines that neighbouring SMs request at once (L2 coalesces them).
struct CoalescedReads {
  double bytes = 0;  ///< expected
  double most = 0;   ///< upper bound, which the limit subtracts
};

/// What a launch waits for after the end of the launch before it.
enum class Start : unsigned char {
  at_once,      ///< no fetch of code
  cold_code,    ///< code from DRAM; back to back the SMs still hold it
  code,         ///< code from DRAM; back to back from L2
  kept_code,    ///< code from L2: an earlier launch fetched it
  programmatic  ///< no fetch and no launch gap: its blocks are resident (PDL)
};

/// Notes of a prediction.
struct PlanNotes {
  bool estimated_traffic = false;  ///< shared, L1, L2 bytes are estimates: no limit uses them
  bool guessed_kernel = false;     ///< which kernel a library launches is a guess: a wide interval
  std::string_view caveat;         ///< the estimated part of the plan; empty: none
  std::vector<TrafficReason> traffic_reasons;  ///< where the access pattern wastes bytes
};

/// One kernel launch.
struct Plan {
  Launch launch;
  std::vector<Instruction> needs;  ///< instructions that not every GPU has
  DType compute = DType::fp32;     ///< type of the vector arithmetic
  Work useful;                     ///< arithmetic of the result, without padding and recomputation
  TileScheduler scheduler = TileScheduler::hardware;
  std::vector<BlockClass> blocks;
  std::vector<ArrayUse> arrays;
  std::vector<Reuse> reuse;
  std::optional<TileRaster> raster;  ///< absent: blocks share no operand
  CoalescedReads coalesced;
  Start start = Start::at_once;
  double on_chip_bytes = 0;  ///< registers and shared memory for a block's data
  PlanNotes notes;

  bool uses(Instruction one) const {
    return std::find(needs.begin(), needs.end(), one) != needs.end();
  }
};

/// The same launch `repeats` times in a row.
struct Launched {
  Plan plan;
  double repeats = 1;
};

/// The launches of one kernel variant, in order.
using LaunchSequence = std::vector<Launched>;

}  // namespace roofcast
