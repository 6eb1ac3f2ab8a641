#pragma once
// The unknown of an inverse question: a parameter or a value of the specification, and its range.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace roofcast::cli {

/// Positions 0 to last() and the value at each: every whole number where both ends are whole, else
/// kFine steps of equal ratio.
class Unknown {
 public:
  static constexpr std::int64_t kFine = 1'000'000;

  /// Reads "KEY=from:to". UsageError for other text and for ends that are not positive and rising.
  static Unknown parse(std::string_view text);
  /// The range from value ÷ 16 to value × 16; a whole number's start is rounded up.
  static Unknown around(std::string_view name, double value);

  const std::string& name() const { return name_; }
  bool whole() const { return whole_; }
  std::int64_t last() const { return last_; }
  std::string at(std::int64_t position) const;
  /// At most `most` positions, both ends included: all if there are no more, else those of values
  /// in equal ratios.
  std::vector<std::int64_t> samples(std::int64_t most) const;

 private:
  void count();

  std::string name_;
  bool whole_ = true;
  double from_ = 1;
  double to_ = 1;
  std::int64_t last_ = 0;
};

}  // namespace roofcast::cli
