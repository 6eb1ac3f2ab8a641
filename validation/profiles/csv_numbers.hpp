#pragma once
// Numbers as programs print them in the language of their user: 1,234.5 or 1.234,5 or 1 234,5.
#include <optional>
#include <string_view>

namespace roofcast::validation {

/// Learns from the numbers of a file which of point and comma parts whole from fraction.
class NumberStyle {
 public:
  void see(std::string_view text);
  /// A comma only where a number says so that could not be written with a point: "0,5", "12,25" or
  /// "1.234,5". Numbers of both kinds: nothing.
  std::optional<char> decimal() const;

 private:
  bool point_ = false, comma_ = false;
};

/// The number that all of `text` is, groups of digits parted by the other mark, blanks or
/// apostrophes; nothing for other text ("n/a", "").
std::optional<double> number_with(std::string_view text, char decimal);

/// SI factor of a unit as Nsight Compute names it: "usecond" 1e-6, "Gbyte/second" 1e9, "Ghz" 1e9,
/// "%" 0.01, "cycle/nsecond" 1e9; 1 for what has no prefix ("register/thread", "byte/block", "").
double scale_of_unit(std::string_view unit);
/// Whether it is one of time: "ns", "usecond", "s".
bool is_unit_of_time(std::string_view unit);

}  // namespace roofcast::validation
