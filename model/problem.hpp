#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

#include "model/dtype.hpp"

namespace roofcast {

/// One integer a kernel takes: an extent of the problem or a choice of its configuration.
/// The table of these drives the command line's options, the help, the JSON and the checks.
struct Parameter {
  std::string_view name;     ///< as on the command line and in JSON: "m", "tile_m"
  std::string_view meaning;  ///< one line, with the unit: "rows of A and C (elements)"
  std::int64_t minimum = 1;
  std::int64_t maximum = 1;
  std::optional<std::int64_t> fallback{};  ///< used when not given; none: the value is required
};

/// A kernel's input sizes: one value for each Parameter of the kernel, in that order, and the type.
struct Problem {
  static constexpr std::size_t kMaxParameters = 12;

  DType dtype = DType::fp32;
  std::array<std::int64_t, kMaxParameters> values{};

  constexpr std::int64_t operator[](std::size_t parameter) const { return values[parameter]; }
  constexpr std::int64_t& operator[](std::size_t parameter) { return values[parameter]; }
  friend constexpr bool operator==(const Problem&, const Problem&) = default;
};

/// Bad input from the user: the message says what was expected and what to do.
class InputError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace roofcast
