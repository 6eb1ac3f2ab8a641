#pragma once
#include <string_view>
#ifdef ROOFCAST_STUDY
#include <map>
#include <type_traits>
#endif

namespace roofcast {

#ifdef ROOFCAST_STUDY
/// Values that replace those of the register, by name (validation/calibration/study_constants).
inline std::map<std::string_view, double>& studied_values() {
  static std::map<std::string_view, double> values;
  return values;
}

inline double studied_value(std::string_view name, double registered) {
  const auto found = studied_values().find(name);
  return found == studied_values().end() ? registered : found->second;
}
#endif

/// A number that comes neither from arithmetic nor from a datasheet.
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

constexpr Constant measured(std::string_view name, double value, std::string_view unit,
                            std::string_view meaning, std::string_view source,
                            std::string_view date) {
  return {name, value, unit, meaning, Constant::Kind::measured, source, date};
}
constexpr Constant counted(std::string_view name, double value, std::string_view unit,
                           std::string_view meaning, std::string_view source,
                           std::string_view date) {
  return {name, value, unit, meaning, Constant::Kind::counted, source, date};
}
constexpr Constant fitted(std::string_view name, double value, std::string_view unit,
                          std::string_view meaning, std::string_view source,
                          std::string_view date) {
  return {name, value, unit, meaning, Constant::Kind::fitted, source, date};
}

constexpr std::string_view name(Constant::Kind kind) {
  constexpr std::string_view names[] = {"measured", "counted", "fitted"};
  return names[static_cast<int>(kind)];
}

}  // namespace roofcast
