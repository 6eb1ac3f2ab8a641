#pragma once
#include <cstdint>

namespace roofcast {

/// What the blocks of a tiled product do, in brief: each computes one tile of the result in steps
/// along the depth, with copies that run ahead of the arithmetic. A plan writes its phases from it,
/// and it is enough to tell candidates apart before their plans are made.
struct TileLoop {
  std::int64_t tiles = 1;   ///< of the result
  std::int64_t splits = 1;  ///< parts of the depth, each a block's: their sums are added later
  /// Parts of the depth of the tiles of the last round, where it is not full: then `splits` is 1, and
  /// blocks take a part after their tiles. The block of a tile's last part joins the others.
  std::int64_t rest_splits = 1;
  std::int64_t blocks_per_sm = 1;  ///< that fit at once
  double steps = 1;                ///< of a block
  double math_cycles = 0;          ///< of an SM for one block's step: arithmetic, or its operands
  double alone_cycles = 0;         ///< the same of a block that no other helps to hide its waits
  double copy_cycles = 0;          ///< of an SM for copies in small pieces, one block's step
  double l2_read_bytes = 0;        ///< of one block's step: as L2 looks them up, joined ones once
  double in_flight_bytes = 0;      ///< that a block's copies are ahead; 0: not known
  double in_flight_cycles = 0;     ///< of an SM to copy these
  double outputs = 0;       ///< of a tile that a block writes, of the size that the rate counts
  double part_outputs = 0;  ///< the same of a part of the last round that another block joins
  double joined_bytes = 0;  ///< that this one reads of each
  double joined_trips = 0;  ///< to L2, one after the other, for these
  double scattered_sectors = 0;  ///< of L2 that stores of a tile touch in part, one by one
  double merged_writes = 0;      ///< stores of a tile that leave a sector in part: L2 merges them
  double start_cycles = 0;       ///< of a launch before its blocks run, beyond that of others
  double end_trips = 0;  ///< to L2 before the last blocks of a launch store, where they join parts
  /// What a split costs beyond its launches is in the plan; else it takes `tile_split_cycles`.
  bool split_is_counted = false;
  bool stores_meanwhile = false;  ///< results of a tile leave while the next one is multiplied
  /// The same from sums of their own in tensor memory: at the full rate of the SM.
  bool sums_apart = false;
  /// Steps of its next tile that a block, which stays, copies while it stores one. 0: it stores first.
  double steps_ahead = 0;
  /// Blocks come and go one by one, a tile each: one that has its SM alone waits for its first tiles itself.
  bool blocks_in_turn = false;
  /// A step's times for each resource combine by the 3-norm in place of the 4-norm.
  bool overlaps_less = false;
  bool on_tensor_cores = true;  ///< else on the SIMT pipes
  bool streams = false;         ///< what DRAM gives is read once, in long streams, as copies do
  double useful_cycles = 0;     ///< of all SMs together for the arithmetic that the result needs

  /// Of so many: the parts of the last round count as the tiles that they make up.
  constexpr std::int64_t blocks() const { return tiles * splits; }
};

}  // namespace roofcast
