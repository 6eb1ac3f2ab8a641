#pragma once
#include <string_view>
#ifdef ROOFCAST_STUDY
#include <map>
#include <type_traits>
#endif

#include "model/types/by_key.hpp"

namespace roofcast {

#ifdef ROOFCAST_STUDY
/// Values that override the register's, by name (validation/calibration/study_constants).
inline std::map<std::string_view, double>& studied_values() {
  static std::map<std::string_view, double> values;
  return values;
}

inline double studied_value(std::string_view name, double registered) {
  const auto found = studied_values().find(name);
  return found == studied_values().end() ? registered : found->second;
}
#endif

/// A number from neither arithmetic nor a datasheet.
struct Constant {
  enum class Kind : unsigned char { measured, counted, fitted };

  std::string_view name;
  double value;
  std::string_view unit;  ///< empty: a ratio
  std::string_view meaning;
  Kind kind;
  std::string_view source;  ///< runs, tables or publications
  std::string_view date;

  constexpr operator double() const {  // NOLINT(google-explicit-constructor)
#ifdef ROOFCAST_STUDY
    if (!std::is_constant_evaluated()) return studied_value(name, value);
#endif
    return value;
  }
};

/// Makes constants of one kind.
struct Found {
  Constant::Kind kind;

  constexpr Constant operator()(std::string_view name, double value, std::string_view unit,
                                std::string_view meaning, std::string_view source,
                                std::string_view date) const {
    return {name, value, unit, meaning, kind, source, date};
  }
};
inline constexpr Found measured{Constant::Kind::measured}, counted{Constant::Kind::counted},
    fitted{Constant::Kind::fitted};

constexpr std::string_view name(Constant::Kind kind) {
  return word_of(kind, {"measured", "counted", "fitted"});
}

}  // namespace roofcast
