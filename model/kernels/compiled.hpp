#pragma once
// This project's kernels as compiled: registers and instruction counts from the machine code.
#include <array>
#include <cstdint>
#include <string_view>

#include "model/types/dtype.hpp"

namespace roofcast::compiled {

/// Template arguments of a kernel: numbers, and element types as DType; 0 in unused places.
using Arguments = std::array<std::int64_t, 10>;

/// A line of compiled.inc.
struct Kernel {
  std::string_view name;  ///< with its folder: "softmax::held_kernel"
  Arguments arguments;
  std::int64_t registers = 0;  ///< a thread
  /// Warp instructions outside loops, on the shortest path with the most of the widest accesses.
  double straight = 0;
  /// Instructions of one iteration of each of the first loops, nested loops excluded.
  std::array<double, 6> loops{};
};

/// The line of compiled.inc; one without registers where there is none.
Kernel find(std::string_view name, const Arguments& arguments);

/// A template argument as a number; tf32 is stored as fp32. `bf16`: the type in place of bf16.
constexpr std::int64_t argument(DType type, DType bf16 = DType::bf16) {
  if (type == DType::tf32) type = DType::fp32;
  return static_cast<std::int64_t>(type == DType::bf16 ? bf16 : type);
}
constexpr std::int64_t argument(auto value, DType /*bf16*/ = DType::bf16) {
  return static_cast<std::int64_t>(value);
}

/// The kernel with these template arguments; one without registers where none is compiled. bf16 has
/// a line of its own only where it differs from fp16.
template <class... Each>
Kernel kernel(std::string_view name, Each... arguments) {
  const Kernel own = find(name, {argument(arguments)...});
  return own.registers > 0 ? own : find(name, {argument(arguments, DType::fp16)...});
}
template <class... Each>
std::int64_t registers(std::string_view name, Each... arguments) {
  return kernel(name, arguments...).registers;
}

}  // namespace roofcast::compiled
