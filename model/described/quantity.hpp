#pragma once
// A number of a kernel file: a constant, or arithmetic over the kernel's parameters.
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/expression/expression.hpp"
#include "model/types/problem.hpp"

namespace roofcast::described {

/// The name that stands for the bytes of one element of the problem's type.
inline constexpr std::string_view kElementBytes = "element_bytes";

class Quantity {
 public:
  Quantity() : Quantity("0") {}
  /// Text as expression::parse reads it, over the names of parameters and `element_bytes`. Throws
  /// InputError for a wrong expression and for another name.
  explicit Quantity(std::string_view text, std::span<const std::string> parameters = {});

  /// Throws InputError naming `what` where the value is negative or not finite.
  double value(const Problem& problem, std::string_view what) const;

 private:
  expression::Expression expression_;
  std::vector<std::size_t> positions_;  ///< of each input in the problem; kMaxParameters: the type
};

}  // namespace roofcast::described
