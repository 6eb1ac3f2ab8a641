#include "hw_specs/pointer.hpp"

#include <cstddef>

namespace roofcast::specs {
namespace {

constexpr std::size_t kShownCharacters = 60;

std::string cut(std::string text) {
  if (text.size() > kShownCharacters) text = text.substr(0, kShownCharacters) + "...";
  return text;
}

}  // namespace

// The names in `pointer` are escaped already: only `key` needs it.
std::string child(std::string_view pointer, std::string_view key) {
  return std::string(pointer) + (Json::json_pointer() / std::string(key)).to_string();
}

const Json* find(const Json& root, std::string_view pointer) {
  const Json::json_pointer place{std::string(pointer)};
  return root.contains(place) ? &root.at(place) : nullptr;
}

const Json* find_value(const Json& root, std::string_view pointer) {
  const Json* quantity = find(root, pointer);
  return quantity != nullptr ? find(*quantity, "/value") : nullptr;
}

std::string shown(const Json& value) {
  return cut(value.dump(-1, ' ', true, Json::error_handler_t::replace));
}

std::string printable(std::string_view text) {
  std::string quoted = Json(text.substr(0, kShownCharacters + 1))
                           .dump(-1, ' ', true, Json::error_handler_t::replace);
  return cut(quoted.substr(1, quoted.size() - 2));
}

std::string list(std::span<const std::string_view> words) {
  std::string result;
  for (const std::string_view word : words) {
    if (!result.empty()) result += ", ";
    result += word;
  }
  return result;
}

}  // namespace roofcast::specs
