#pragma once
// Bytes and FLOPs of one instruction, as far as its text tells them.
#include <cstdint>
#include <optional>
#include <string>

#include "model/types/dtype.hpp"
#include "validation/sass/instruction.hpp"

namespace roofcast::sass {

enum class Space : unsigned char { global, shared, local };
enum class Direction : unsigned char { load, store, copy, atomic };

/// A memory access. A copy between global and shared memory has Space::global.
struct Access {
  Space space;
  Direction direction;
  std::int64_t bytes;  ///< per thread; 0: not in the instruction (bulk copies, tensor maps)
  std::string name;    ///< "LDG.128": opcode and width in bits
};

/// The access of a memory instruction; nothing for all others.
std::optional<Access> access_of(const Instruction& instruction);

struct Arithmetic {
  DType type = DType::fp32;
  double flops = 0;  ///< per thread: those of the warp or warpgroup ÷ its threads
  bool tensor = false;
  bool by_warp = false;        ///< matrix instruction of one warp, not of a warpgroup or block
  bool unknown_shape = false;  ///< the shape is in a descriptor: `flops` is 0
};

/// Arithmetic of a matrix or floating-point instruction; a fused multiply-add counts 2 FLOPs.
/// Nothing for any other, nor if one of the first two sources of a vector instruction is the zero
/// register: such a sum or product moves a value.
std::optional<Arithmetic> arithmetic_of(const Instruction& instruction);

}  // namespace roofcast::sass
