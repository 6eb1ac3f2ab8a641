#pragma once
#include <cstddef>
#include <cstdint>

#include "model/types/dtype.hpp"
#include "model/types/plan.hpp"

namespace roofcast {

/// Summary of a candidate of a tiled product: its main loop and epilogues, from which a lower bound
/// of its time follows without its plan.
struct Outline {
  std::int64_t blocks = 1;  ///< tiles, or their parts with split-K
  std::int64_t blocks_per_sm = 1;
  TileScheduler scheduler = TileScheduler::persistent;
  DType type = DType::bf16;
  bool of_tcgen05 = false;       ///< multiplies by tcgen05
  double warps = 1;              ///< per block
  Phase loop{};                  ///< of a block that is no part of a tail split
  Step end{};                    ///< epilogue of such a block
  double l2_read_bytes = 0;      ///< the launch's reads that access L2 (JoinedReads do not)
  std::size_t copies = 0;        ///< launches before the product, the same for all candidates
  double launches = 1;           ///< of the product; 2: with a separate reduction kernel
  double reduction_bytes = 0;    ///< read by the reduction kernel
  std::int64_t tail_blocks = 0;  ///< tail split-K: blocks of the last round, parts of its tiles
  double tail_steps = 0;         ///< of each such block's main loop
  Step partial_end{}, reducing_end{};  ///< tail blocks: storing partial sums; adding them up
  double useful_flops = 0;             ///< of the launch, on tensor cores

  bool on_tensor_cores() const { return useful_flops > 0; }
};

}  // namespace roofcast
