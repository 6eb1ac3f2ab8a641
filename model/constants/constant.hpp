#pragma once
#include <string_view>

namespace roofcast {

/// A number that is neither arithmetic nor of a datasheet.
struct Constant {
  enum class Kind : unsigned char { measured, counted, fitted };

  std::string_view name;
  double value;
  std::string_view unit;  ///< empty: a ratio
  std::string_view meaning;
  Kind kind;
  std::string_view source;  ///< runs, tables or publications
  std::string_view date;

  constexpr operator double() const { return value; }  // NOLINT(google-explicit-constructor)
};

constexpr std::string_view name(Constant::Kind kind) {
  constexpr std::string_view names[] = {"measured", "counted", "fitted"};
  return names[static_cast<int>(kind)];
}

}  // namespace roofcast
