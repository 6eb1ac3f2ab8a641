#pragma once
#include <cstdint>

#include "model/types/dtype.hpp"
#include "model/types/plan.hpp"

namespace roofcast {

/// A candidate in brief: the loop of a tiled product, counted, from which a lower bound of its time
/// follows before its plan is made.
struct Outline {
  /// The last step of a block, in brief.
  struct End {
    Traffic bytes;  ///< below L1
    double instructions = 0;
    Waits waits = {};
  };
  std::int64_t blocks = 1;  ///< tiles, or parts of them
  std::int64_t blocks_per_sm = 1;
  TileScheduler scheduler = TileScheduler::persistent;
  DType type = DType::bf16;
  bool on_tensor_cores = true;
  bool of_tcgen05 = false;  ///< multiplies by tcgen05
  double warps = 1;         ///< of a block
  double steps = 1;
  double ahead = 0;   ///< as of Phase
  double parts = 1;   ///< of a step: groups of warps times their chains
  double chains = 1;  ///< of one group
  Waits step_waits = {.tile_loads = 1};
  double step_flops = 0;
  double step_instructions = 0;  ///< of warps
  double step_operands = 0;      ///< wavefronts, as of Wavefronts::operands
  double step_bytes = 0;         ///< that an SM receives from L2
  double step_copies = 0;        ///< requests, as of Wavefronts::copies
  End end = {};                  ///< of a block, its last one
  double looked_up_bytes = 0;    ///< in L2, by the launch
  double launches = 1;
  double summed_bytes = 0;           ///< that the last of them reads
  std::int64_t rest_blocks = 0;      ///< more, of the same steps and fewer, that end the launch
  double rest_steps = 0;             ///< of each
  End rest_end = {}, last_end = {};  ///< of theirs, and of those that come last
  double useful_flops = 0;           ///< on tensor cores, of the launch
};

}  // namespace roofcast
