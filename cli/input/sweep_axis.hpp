#pragma once
// The values a sweep gives a parameter: 256:8192:256, 256:8192:*2, 1,2,4, =m, =4096/m.
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/types/problem.hpp"

namespace roofcast::cli {

/// Most points of a sweep: more are taken for a mistake.
inline constexpr std::size_t kMostPoints = 1'000'000;

struct Axis {
  std::string name;
  std::vector<std::int64_t> values;  ///< empty where tied
  std::string tied_to;               ///< the parameter whose value it follows; empty: none
  bool named = false;        ///< the values are positions in the choices; no axis may be tied to it
  std::int64_t divided = 0;  ///< not 0: its value is this ÷ that of tied_to
};

/// Numbers and ranges lo:hi:step (hi included where hit) or lo:hi:*factor, separated by commas; or
/// =other, or =NUMBER/other for the whole part of the quotient (a product kept constant), at least
/// 1. Throws UsageError for other text, InputError for an empty or too long range.
Axis parse_axis(std::string_view name, std::string_view text);

/// The axis of a kernel's parameter. One with choices takes names separated by commas; UsageError,
/// with the choices, for another. A text parameter is no axis.
Axis parse_axis(const Parameter& parameter, std::string_view text);

/// For each axis the one at the end of its ties; an axis without ties is its own end. Throws
/// UsageError for a tie to an axis that is not given or that has names, and for a circle.
std::vector<std::size_t> resolve_ties(std::span<const Axis> axes);

/// Every combination of the axes' values, the last axis fastest. InputError where the number of
/// combinations times `repeats` exceeds kMostPoints; UsageError as resolve_ties.
class Points {
 public:
  Points(std::span<const Axis> axes, std::size_t repeats);
  std::size_t count() const { return count_; }
  /// Fills in the values of point number `index`.
  void at(std::size_t index, std::span<std::int64_t> values) const;

 private:
  /// The value of an axis, followed through its ties. The constructor has checked that they end.
  std::int64_t tied_value(std::size_t axis, std::span<const std::int64_t> values) const;

  std::span<const Axis> axes_;
  std::size_t count_ = 1;
};

}  // namespace roofcast::cli
