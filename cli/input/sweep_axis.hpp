#pragma once
// The values a sweep gives a parameter: 256:8192:256, 256:8192:*2, 1,2,4, =m, =4096/m.
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/types/problem.hpp"

namespace roofcast::cli {

/// More points than this are taken for a mistake.
inline constexpr std::size_t kMostPoints = 1'000'000;

struct Axis {
  std::string name;
  std::vector<std::int64_t> values;  ///< empty where tied
  std::string tied_to;               ///< the parameter whose value it takes
  bool named = false;                ///< positions among choices: nothing is tied to them
  std::int64_t divided = 0;          ///< where not 0: it takes this divided by that value
};

/// Numbers and ranges lo:hi:step (hi included where hit) or lo:hi:*factor, parted by commas; or
/// =other, or =NUMBER/other for the whole part of the quotient (a product kept constant), at least
/// 1. Throws UsageError for other text, InputError for an empty or too long range.
Axis parse_axis(std::string_view name, std::string_view text);

/// The same for a parameter of a kernel: of one with choices, names parted by commas; UsageError
/// lists the choices for another. Not for a text, which is no axis.
Axis parse_axis(const Parameter& parameter, std::string_view text);

/// The axis whose values each axis takes, itself where it is not tied. Throws UsageError for a tie
/// to something not given or in a circle.
std::vector<std::size_t> resolve_ties(std::span<const Axis> axes);

/// Every combination, the last axis fastest; one value for each axis. The product of the counts
/// times `repeats` must not pass kMostPoints.
class Points {
 public:
  Points(std::span<const Axis> axes, std::size_t repeats);
  std::size_t count() const { return count_; }
  /// Fills in the values of point number `index`.
  void at(std::size_t index, std::span<std::int64_t> values) const;

 private:
  /// What an axis takes from the one it is tied to, over however many ties. The constructor has
  /// seen that they end.
  std::int64_t tied_value(std::size_t axis, std::span<const std::int64_t> values) const;

  std::span<const Axis> axes_;
  std::size_t count_ = 1;
};

}  // namespace roofcast::cli
