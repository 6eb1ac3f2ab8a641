#pragma once
#include <cstddef>
#include <cstdint>

#include "model/types/dtype.hpp"
#include "model/types/plan.hpp"

namespace roofcast {

/// Summary of a candidate of a tiled product: counts of its main loop and epilogues, from which a
/// lower bound of its time follows without its plan. A step is one block's step of the main loop.
struct Outline {
  /// The epilogue of a block.
  struct Epilogue {
    Traffic bytes;            ///< between the SM and L2
    double instructions = 0;  ///< of all warps
    Waits waits = {};
  };
  std::int64_t blocks = 1;  ///< tiles, or their parts with split-K
  std::int64_t blocks_per_sm = 1;
  TileScheduler scheduler = TileScheduler::persistent;
  DType type = DType::bf16;
  bool on_tensor_cores = true;
  bool of_tcgen05 = false;  ///< multiplies by tcgen05
  double warps = 1;         ///< per block
  double steps = 1;         ///< of a block's main loop
  double ahead = 0;         ///< Phase::ahead
  double parts = 1;         ///< products in flight in a block: groups of warps × chains
  double chains = 1;        ///< Phase::chains
  Waits step_waits = {.tile_loads = 1};
  double step_flops = 0;
  double step_instructions = 0;  ///< warp instructions
  double step_operands = 0;      ///< Wavefronts::operands
  double step_bytes = 0;         ///< received from L2
  double step_copies = 0;        ///< Wavefronts::copies
  Epilogue epilogue = {};        ///< of a block that is no part of a tail split
  double l2_read_bytes = 0;      ///< the launch's reads that access L2 (JoinedReads do not)
  std::size_t copies = 0;        ///< launches before the product, the same for all candidates
  double launches = 1;           ///< of the product; 2: with a separate reduction kernel
  double reduction_bytes = 0;    ///< read by the reduction kernel
  std::int64_t tail_blocks = 0;  ///< tail split-K: blocks of the last round, parts of its tiles
  double tail_steps = 0;         ///< of each such block's main loop
  Epilogue tail_epilogue = {},
           reducing_epilogue = {};  ///< tail blocks: storing partial sums; adding them up
  double useful_flops = 0;          ///< of the launch, on tensor cores
};

}  // namespace roofcast
