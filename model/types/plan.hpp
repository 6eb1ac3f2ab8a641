#pragma once
// A plan says what a kernel does, counted; it never says how long that takes. The laws do, and
// they know no kernel. What is issued is written once, by phase and class of blocks: every total is
// derived from it (counting/totals.hpp).
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "model/types/gpu.hpp"
#include "model/types/launch.hpp"
#include "model/types/prediction.hpp"
#include "model/types/problem.hpp"
#include "model/types/work.hpp"

namespace roofcast {

/// Cycles of an SM's data pipe, and lines looked up, over all warps of a block.
struct Wavefronts {
  double shared = 0;      ///< for shared memory, bank conflicts counted
  double l1 = 0;          ///< for global memory through L1
  double l1_lookups = 0;  ///< distinct lines, summed over warp accesses
  double operands = 0;    ///< for matrix instructions, which read shared memory as they multiply
  double copies =
      0;  ///< requests of the copy engine (TMA) to L2, of at most 64 bytes; no wavefronts
};

/// Dependent waits of a block that nothing else in it hides.
struct Waits {
  double global = 0;      ///< round trips to L2 or DRAM
  double tile_loads = 0;  ///< for all loads of a tile from global memory
  double shared = 0;      ///< round trips to shared memory, shuffles with them
  double arithmetic = 0;  ///< length of the longest chain of dependent operations
  double barriers = 0;
  double cluster_exchanges = 0;  ///< stores to all blocks of a cluster, with its barrier
};

/// What one block does in one step: `issued.requested`, `.l1` and `.l2` are its traffic at each
/// level, `.l2` as if L1 kept nothing for later (Plan::reuse says what it may keep).
struct Step {
  Work issued;
  double warp_instructions = 0;
  Wavefronts wavefronts;
  Waits waits;
};

/// A step, over and over. A phase that repeats is a loop; with a barrier in it blocks wait together
/// for the same things.
struct Phase {
  Step step;
  double repeats = 1;
  double ahead = 0;  ///< steps before its use that a step's loads are issued: buffers, less those
                     ///< that hold what is in use
  /// Groups of warps that go through the step each for itself. 0: the block as one where it has a
  /// barrier or loads ahead, else each of its warps.
  double groups = 0;
  double chains = 1;  ///< products, and what follows from them, that a group has under way at once
  double waited_products = 1;  ///< of a step's products, what a group waits for: others run behind
                               ///< its next instructions
};

/// Blocks that do the same; of blocks that stay on their SM the tiles that they take.
struct BlockClass {
  std::int64_t count = 0;
  std::vector<Phase> phases;
};

/// Who gives blocks to SMs.
enum class TileScheduler : unsigned char {
  hardware,    ///< a block starts where one has ended
  persistent,  ///< block i + n·slots follows block i in the same place, whatever the others do
  ping_pong,   ///< persistent; a block has two tiles under way: one is stored while the other
               ///< multiplies
  queue,       ///< a block stays and takes the next tile, in order, when it has finished one
};

/// Whether a block takes tile after tile.
constexpr bool stays(TileScheduler scheduler) {
  return scheduler != TileScheduler::hardware;
}

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

/// Accesses that do not come in whole lines one after the other.
struct AccessPattern {
  double read_density = 1;  ///< share of the DRAM around the reads that the reads touch
  /// Blocks that run out of step read it: they touch the DRAM around a read at other times.
  bool out_of_step = false;
  double partial_writes = 0;  ///< stores of a line's sectors in part: L2 merges each
  /// Written in parts by warps apart in time: a sector stays incomplete while the resident blocks,
  /// or so many as lie between two that share it, move their traffic through L2.
  double open_write_bytes = 0;
  double open_for_blocks = 0;
  /// Of each row, one block writes so many bytes, and another the next ones so many blocks later.
  /// 0: rows are written from end to end.
  double write_run_bytes = 0;
  double blocks_to_next_run = 0;
  /// Sectors at the ends of such runs that two of them share, counted in both.
  double shared_run_ends = 0;
};

/// Independent accesses to random sectors of a table.
struct RandomReads {
  double sectors = 0;         ///< accessed, lanes of a warp joined
  double table_bytes = 0;     ///< among which each is drawn
  double streamed_lines = 0;  ///< other lines that come with each access and are not used again
};

/// Stores that each hold a part of every sector they touch: a warp's later ones fill the rest.
struct SplitWrites {
  double sectors = 0;  ///< each written in `parts`
  double parts = 1;
  double bytes_between = 0;  ///< that a block's warps write from one part of a sector to the next
};

/// Arrays of a program are numbered; the same number is the same memory.
using ArrayId = int;

/// What a launch does with one array in global memory.
struct ArrayUse {
  ArrayId array = 0;
  Traffic compulsory;  ///< each input once in, each output once out; none for scratch
  Traffic footprint;   ///< each DRAM access touched, once: the least that DRAM can move
  AccessPattern pattern{};
  std::optional<RandomReads> random{};  ///< then the laws find what of the table is read
  std::optional<SplitWrites> split{};   ///< then the laws find what of the parts L1 joins
  /// An earlier kernel has just computed it, as a rule: x of a kernel over rows, A of a product;
  /// not weights. CacheState::warm finds it in L2.
  bool activation = false;
  /// In launches one after the other it comes round again after so many bytes through L2; but for
  /// a cold one they find it as far as L2 keeps it. Absent: it does not come round.
  std::optional<double> returns_after_bytes{};
  /// Position among the kernel's inputs, where it is not that among the plan's arrays.
  std::optional<std::size_t> input{};
};

/// Where bytes that are read again may be found.
enum class Scope : unsigned char {
  block,  ///< by the block that read them: in L1, else in L2
  sm,     ///< by any block of the SM, which all read the same
};

/// Bytes that leave Step::issued for L2 again and again unless L1 holds them.
struct Reuse {
  Scope scope = Scope::block;
  double bytes = 0;           ///< all of the launch's reads (sm), or its later ones (block)
  double distinct_bytes = 0;  ///< of the data that all blocks read (sm)
  /// Through L1 between two uses: by each resident block (block), or by all (sm).
  double distance_bytes = 0;
  /// Through L2 meanwhile, by each resident block (block).
  double l2_distance_bytes = 0;
};

/// Reads from L2 that may cost it no access: multicast to further blocks of a cluster, zeros that
/// fill copies beyond an edge, and lines for which neighbouring SMs ask at once, which it answers
/// together.
struct JoinedReads {
  double bytes = 0;  ///< as expected
  double most = 0;   ///< no limit rests on these
};

/// What a launch waits for before its blocks run, besides the launch before it.
enum class Start : unsigned char {
  at_once,
  cold_code,    ///< short code, which the SMs keep between launches back to back
  code,         ///< code from L2 at every launch
  kept_code,    ///< code from L2 where the launch has brought it before
  programmatic  ///< nothing: its blocks are on the SMs already (programmatic dependent launch)
};

/// What an answer says beside the numbers.
struct PlanNotes {
  bool estimated_traffic =
      false;                ///< what passes through L1 and L2 is a guess: no limit rests on it
  std::string_view caveat;  ///< what in the plan is an estimate; empty: nothing
  std::vector<TrafficReason> traffic_reasons;  ///< where the access pattern wastes bytes
};

/// One kernel launch.
struct Plan {
  Launch launch;
  std::vector<Instruction> needs;  ///< that not every GPU has
  DType compute = DType::fp32;     ///< type of the vector arithmetic
  Work useful;                     ///< the arithmetic that the result needs: no padding, no repeats
  TileScheduler scheduler = TileScheduler::hardware;
  std::vector<BlockClass> blocks;
  std::vector<ArrayUse> arrays;
  std::vector<Reuse> reuse;
  std::optional<TileRaster> raster;  ///< absent: blocks share no operand
  JoinedReads joined;
  Start start = Start::at_once;
  double on_chip_bytes = 0;  ///< registers and shared memory a block computes from
  PlanNotes notes;
};

/// Equal launches, one after the other.
struct Launched {
  Plan plan;
  double repeats = 1;
};

/// The launches of one kernel variant, in order.
using LaunchSequence = std::vector<Launched>;

}  // namespace roofcast
