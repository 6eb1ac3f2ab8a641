#pragma once
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>

#include "model/types/dtype.hpp"

namespace roofcast {

/// One input of a kernel: an extent of the problem, a choice among names, a text, or a setting of
/// its configuration. These tables drive options, help, JSON and checks.
struct Parameter {
  std::string_view name;     ///< as on the command line and in JSON: "m", "tile_m"
  std::string_view meaning;  ///< one line, with the unit: "rows of A and C (elements)"
  std::int64_t minimum = 1;
  std::int64_t maximum = 1;
  std::optional<std::int64_t> fallback{};  ///< used when not given; none: the value is required
  /// A setting: neither the result nor the family's limit depends on it.
  bool configures = false;
  /// Not empty: the value is given by name, and value i in the Problem is choices[i].
  std::span<const std::string_view> choices{};
  /// The value is Problem::text; Problem::values holds 0. A kernel has at most one text.
  bool is_text = false;
};

/// The position of the parameter of that name; absent if there is none.
constexpr std::optional<std::size_t> position_named(std::span<const Parameter> parameters,
                                                    std::string_view name) {
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    if (parameters[i].name == name) return i;
  }
  return std::nullopt;
}

constexpr Parameter setting(std::string_view name, std::string_view meaning, std::int64_t minimum,
                            std::int64_t maximum, std::int64_t fallback) {
  return {name, meaning, minimum, maximum, fallback, true};
}

/// The value of an open setting: predict chooses the fastest.
inline constexpr std::int64_t kToChoose = 0;

/// A setting that is open by default.
constexpr Parameter open_setting(std::string_view name, std::string_view meaning,
                                 std::int64_t maximum) {
  return setting(name, meaning, kToChoose, maximum, kToChoose);
}

/// A value given by name: `fallback` is the position of the default.
constexpr Parameter choice(std::string_view name, std::string_view meaning,
                           std::span<const std::string_view> choices,
                           std::optional<std::int64_t> fallback) {
  return {name,     meaning, 0,      static_cast<std::int64_t>(choices.size()) - 1,
          fallback, false,   choices};
}

/// The two passes of a kernel whose result has gradients.
enum Pass : std::int64_t { kForward, kBackward };
inline constexpr std::array<std::string_view, 2> kPassNames = {"forward", "backward"};

/// A family's parameters, followed by a variant's own.
template <std::size_t kShared, std::same_as<Parameter>... Own>
constexpr auto with_own(const std::array<Parameter, kShared>& shared, const Own&... own) {
  return std::apply([&](const auto&... each) { return std::array{each..., own...}; }, shared);
}

/// A short text stored in place: a struct that contains it stays a plain value.
class Text {
 public:
  static constexpr std::size_t kMaxBytes = 255;

  constexpr Text() = default;
  /// Throws std::length_error beyond kMaxBytes.
  constexpr explicit Text(std::string_view text) : size_(static_cast<unsigned char>(text.size())) {
    if (text.size() > kMaxBytes) throw std::length_error("a text of more than 255 bytes");
    for (std::size_t i = 0; i < text.size(); ++i) bytes_[i] = text[i];
  }

  constexpr std::string_view view() const { return {bytes_.data(), size_}; }
  constexpr bool empty() const { return size_ == 0; }
  friend constexpr bool operator==(const Text& a, const Text& b) { return a.view() == b.view(); }

 private:
  std::array<char, kMaxBytes> bytes_{};
  unsigned char size_ = 0;
};

/// A kernel's input sizes: one value for each Parameter of the kernel, in that order, and the type.
struct Problem {
  static constexpr std::size_t kMaxParameters = 16;

  DType dtype = DType::fp32;
  std::array<std::int64_t, kMaxParameters> values{};
  Text text{};  ///< value of the parameter that is a text; else empty

  constexpr std::int64_t operator[](std::size_t parameter) const { return values[parameter]; }
  constexpr std::int64_t& operator[](std::size_t parameter) { return values[parameter]; }
  friend constexpr bool operator==(const Problem&, const Problem&) = default;
};

/// Bad input from the user; the message states what was expected and what to do.
class InputError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

template <class Number>
requires std::is_arithmetic_v<Number> std::string message_part(Number number) {
  return std::to_string(number);
}
inline std::string message_part(std::string_view text) {
  return std::string(text);
}
/// Texts and numbers, concatenated.
template <class... Piece>
std::string message(const Piece&... pieces) {
  return (message_part(pieces) + ...);
}
/// Throws InputError with that message unless `holds`.
template <class... Piece>
void require(bool holds, const Piece&... pieces) {
  if (!holds) throw InputError(message(pieces...));
}

/// The texts of the items, joined: "one, two, three".
template <class Items, class Text>
std::string listed(const Items& items, const Text& text, std::string_view between = ", ") {
  std::string all;
  for (const auto& one : items) {
    if (&one != &*std::begin(items)) all += between;
    all += text(one);
  }
  return all;
}

}  // namespace roofcast
