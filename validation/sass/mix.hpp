#pragma once
// Instructions of a part of a kernel, counted as they stand in the code: one pass of a warp.
#include <array>
#include <cstdint>
#include <map>
#include <string>

#include "validation/sass/opcodes.hpp"
#include "validation/sass/operations.hpp"

namespace roofcast::sass {

/// FLOPs of a thread by type.
class Flops {
 public:
  double& operator[](DType type) { return values_[static_cast<std::size_t>(type)]; }
  double operator[](DType type) const { return values_[static_cast<std::size_t>(type)]; }

 private:
  std::array<double, kAllDTypes.size()> values_{};
};

struct Mix {
  std::int64_t instructions = 0;
  std::array<std::int64_t, kAllPipes.size()> by_pipe{};
  std::map<std::string, std::int64_t> accesses;  ///< "LDG.128" and how many stand there
  std::map<std::string, std::int64_t> unknown;   ///< opcodes that no list names
  Flops flops, tensor_flops;                     ///< of a thread
  bool unknown_tensor_shape = false;             ///< some shapes stand in descriptors …
  DType unknown_tensor_type = DType::fp16;       ///< … of products of this type
  bool tensor_by_warps = false;                  ///< some products are those of one warp, mma.sync
  std::int64_t special_results = 0;              ///< MUFU, of a thread
  std::int64_t block_barriers = 0;               ///< BAR
  std::int64_t local_loads = 0, local_stores = 0;
  bool reads_global = false, writes_global = false, uses_shared = false;
  bool copies_in_bulk = false;             ///< the instruction does not say how many bytes
  double read_bytes = 0, write_bytes = 0;  ///< of global memory, of a thread, bulk copies apart
  double shared_bytes = 0;                 ///< through shared memory, of a thread
  /// Cycles of an SM's pipe of shared memory and L1, which takes 128 B each: at best.
  double lsu_cycles = 0;

  std::int64_t operator[](Pipe pipe) const { return by_pipe[static_cast<std::size_t>(pipe)]; }
  void add(const Instruction& instruction);
};

}  // namespace roofcast::sass
