#pragma once
// This project's kernels as compiled: what of a launch the source does not say.
#include <array>
#include <cstdint>
#include <string_view>

#include "model/types/dtype.hpp"

namespace roofcast::compiled {

/// Arguments of a kernel's template: numbers, and types of elements as DType; 0 where there is
/// none.
using Arguments = std::array<std::int64_t, 10>;

/// A line of compiled.inc.
struct Kernel {
  std::string_view name;  ///< with its folder: "softmax::held_kernel"
  Arguments arguments;
  std::int64_t registers = 0;  ///< of a thread
  /// Instructions of a warp outside all loops, on the shortest of the ways with the most accesses
  /// of the widest kind.
  double straight = 0;
  /// All in a turn of each of the first loops, without those of loops inside.
  std::array<double, 6> loops{};
};

Kernel find(std::string_view name, const Arguments& arguments);

/// A type stands for how its elements lie in memory: tf32 as fp32.
constexpr std::int64_t argument(DType type) {
  return static_cast<std::int64_t>(type == DType::tf32 ? DType::fp32 : type);
}
template <class Value>
constexpr std::int64_t argument(Value value) {
  return static_cast<std::int64_t>(value);
}

/// The kernel; one without registers where none is compiled.
template <class... Each>
Kernel kernel(std::string_view name, Each... arguments) {
  return find(name, {argument(arguments)...});
}
template <class... Each>
std::int64_t registers(std::string_view name, Each... arguments) {
  return kernel(name, arguments...).registers;
}

}  // namespace roofcast::compiled
