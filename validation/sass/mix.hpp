#pragma once
// Static counts of the instructions of a part of a kernel: one pass of a warp.
#include <cstdint>
#include <map>
#include <string>

#include "model/types/work.hpp"
#include "validation/sass/opcodes.hpp"
#include "validation/sass/operations.hpp"

namespace roofcast::sass {

struct Mix {
  std::int64_t instructions = 0;
  ByKey<Pipe, std::int64_t, kAllPipes.size()> by_pipe;
  std::map<std::string, std::int64_t> accesses;  ///< number of instructions by name, "LDG.128"
  std::map<std::string, std::int64_t> unknown;   ///< opcodes that kOpcodes lacks
  FlopsByType flops, tensor_flops;               ///< per thread
  bool unknown_tensor_shape = false;             ///< some matrix shapes are in descriptors …
  DType unknown_tensor_type = DType::fp16;       ///< … of instructions of this type
  bool tensor_by_warps = false;      ///< some matrix instructions are of one warp (mma.sync)
  std::int64_t special_results = 0;  ///< MUFU instructions
  std::int64_t block_barriers = 0;   ///< BAR instructions
  std::int64_t local_loads = 0, local_stores = 0;
  bool reads_global = false, writes_global = false, uses_shared = false;
  bool copies_in_bulk = false;             ///< has bulk copies, whose bytes are not in the code
  double read_bytes = 0, write_bytes = 0;  ///< global memory, per thread, without bulk copies
  double shared_bytes = 0;                 ///< shared memory, per thread
  /// Least cycles of the SM's pipe for shared memory and L1, at 128 B per cycle.
  double lsu_cycles = 0;

  std::int64_t operator[](Pipe pipe) const { return by_pipe[pipe]; }
  void add(const Instruction& instruction);
};

}  // namespace roofcast::sass
