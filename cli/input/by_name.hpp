#pragma once
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>

namespace roofcast::cli {

/// Hashes a string and a view of it alike.
struct TextHash {
  using is_transparent = void;
  std::size_t operator()(std::string_view text) const {
    return std::hash<std::string_view>()(text);
  }
};

/// Values by name; a lookup by a view makes no string.
template <class Value>
using ByName = std::unordered_map<std::string, Value, TextHash, std::equal_to<>>;

}  // namespace roofcast::cli
