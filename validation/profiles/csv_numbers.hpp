#pragma once
// Numbers in the locale of the program that printed them: 1,234.5 or 1.234,5 or 1 234,5.
#include <optional>
#include <string_view>

namespace roofcast::validation {

/// Learns the decimal mark, point or comma, from the numbers of a file.
class NumberStyle {
 public:
  void see(std::string_view text);
  /// The decimal mark: a comma if a number seen requires it ("0,5", "12,25" or "1.234,5"), else a
  /// point; nothing if some numbers require a comma and others a point.
  std::optional<char> decimal() const;

 private:
  bool point_ = false, comma_ = false;
};

/// The number in `text`, whose digits may be grouped by the other mark, blanks or apostrophes;
/// nothing for other text ("n/a", "").
std::optional<double> number_with(std::string_view text, char decimal);

/// SI factor of a unit as Nsight Compute names it: "usecond" 1e-6, "Gbyte/second" 1e9, "Ghz" 1e9,
/// "%" 0.01, "cycle/nsecond" 1e9; 1 without a prefix ("register/thread", "byte/block", "").
double scale_of_unit(std::string_view unit);
/// Whether it is a unit of time: "ns", "usecond", "s".
bool is_unit_of_time(std::string_view unit);

}  // namespace roofcast::validation
