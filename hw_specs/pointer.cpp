#include "hw_specs/pointer.hpp"

#include <cstddef>

namespace roofcast::specs {
namespace {

constexpr std::size_t kShownCharacters = 60;

std::string cut(std::string text) {
  if (text.size() > kShownCharacters) text = text.substr(0, kShownCharacters) + "...";
  return text;
}

std::string unescaped(std::string_view token) {
  std::string key;
  for (std::size_t i = 0; i < token.size(); ++i) {
    const bool escape = token[i] == '~' && i + 1 < token.size();
    key += escape ? (token[++i] == '1' ? '/' : '~') : token[i];
  }
  return key;
}

}  // namespace

std::string child(std::string_view pointer, std::string_view key) {
  std::string result(pointer);
  result += '/';
  for (const char c : key) {
    if (c == '~') {
      result += "~0";
    } else if (c == '/') {
      result += "~1";
    } else {
      result += c;
    }
  }
  return result;
}

const Json* find(const Json& root, std::string_view pointer) {
  const Json* node = &root;
  while (!pointer.empty()) {
    pointer.remove_prefix(1);
    const std::string_view token = pointer.substr(0, pointer.find('/'));
    pointer.remove_prefix(token.size());
    if (!node->is_object()) return nullptr;
    const auto member = node->find(unescaped(token));
    if (member == node->end()) return nullptr;
    node = &*member;
  }
  return node;
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

std::string list(const std::vector<std::string_view>& words) {
  std::string result;
  for (const std::string_view word : words) {
    if (!result.empty()) result += ", ";
    result += word;
  }
  return result;
}

}  // namespace roofcast::specs
