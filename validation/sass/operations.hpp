#pragma once
// What one instruction moves and computes, as far as its text says.
#include <cstdint>
#include <optional>
#include <string>

#include "model/types/dtype.hpp"
#include "validation/sass/instruction.hpp"

namespace roofcast::sass {

enum class Space : unsigned char { global, shared, local };
enum class Direction : unsigned char { load, store, copy, atomic };

/// An access to memory. A copy goes from one space to the other and counts as global.
struct Access {
  Space space;
  Direction direction;
  std::int64_t bytes;  ///< of a thread; 0: not in the instruction (bulk copies, tensor maps)
  std::string name;    ///< "LDG.128": the opcode with its width alone
};

/// Nothing for what accesses none of these memories.
std::optional<Access> access_of(const Instruction& instruction);

struct Arithmetic {
  DType type = DType::fp32;
  double flops = 0;  ///< of a thread: a warp's, or a warpgroup's, shared out
  bool tensor = false;
  bool by_warp = false;        ///< a product of one warp, not of a warpgroup or a block
  bool unknown_shape = false;  ///< the shape stands in a descriptor: `flops` is 0
};

/// FLOPs of an instruction; a fused multiply-add counts 2. Nothing for what does no floating-point
/// arithmetic, nor where an operand is the zero register: such a sum or product moves a value.
std::optional<Arithmetic> arithmetic_of(const Instruction& instruction);

}  // namespace roofcast::sass
