#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "model/types/dtype.hpp"
#include "model/types/plan.hpp"

namespace roofcast {

/// An operand that the GEMM reads from DRAM; 0 bytes: an earlier launch wrote it.
struct OperandRead {
  double bytes = 0;
  AccessPattern pattern{};
};

/// Tail split-K: blocks that share the tiles of the last round.
struct TailSplit {
  std::int64_t tiles, parts;       ///< `parts` blocks share each tile
  double steps;                    ///< main-loop steps of each such block
  Step partial_end, reducing_end;  ///< their epilogues: store partial sums; reduce

  std::int64_t blocks() const { return tiles * parts; }
};

/// Summary of a tiled GEMM candidate, its main loop and epilogues: gives a lower bound of its time
/// without its plan.
struct Outline {
  std::int64_t blocks = 1;  ///< tiles, or their parts with split-K
  std::int64_t blocks_per_sm = 1;
  TileScheduler scheduler = TileScheduler::persistent;
  DType type = DType::bf16;
  bool of_tcgen05 = false;   ///< multiplies by tcgen05
  double warps = 1;          ///< per block
  Waits first{};             ///< of a block before its main loop
  Phase loop{};              ///< main loop of a block outside the tail split
  Step end{};                ///< epilogue of such a block
  double l2_read_bytes = 0;  ///< reads of the launch that access L2: all but CoalescedReads
  std::array<OperandRead, 2> operands{};
  double epilogue_read_bytes = 0;  ///< further reads of the launch, none of them in `end`
  double result_bytes = 0;         ///< of C
  std::size_t copies = 0;          ///< launches before the GEMM, the same for all candidates
  double launches = 1;             ///< of the GEMM; 2: with a separate reduction kernel
  double reduction_bytes = 0;      ///< partial sums, which the reduction kernel reads
  std::optional<TailSplit> tail{};
  double useful_flops = 0;  ///< of the launch, on tensor cores

  bool on_tensor_cores() const { return useful_flops > 0; }
};

}  // namespace roofcast
