#pragma once
// JSON pointers (RFC 6901) and short texts of JSON values, for error messages.
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>

namespace roofcast::specs {

using Json = nlohmann::json;

/// The pointer to member `key` of the value at `pointer`; escapes `key`.
std::string child(std::string_view pointer, std::string_view key);

/// The value at `pointer`; null if there is none.
const Json* find(const Json& root, std::string_view pointer);

/// The "value" of a quantity {"value", "source"}; null where it is absent.
const Json* find_value(const Json& root, std::string_view pointer);

/// A value as JSON in ASCII, cut after 60 characters.
std::string shown(const Json& value);

/// Any bytes as printable ASCII, cut after 60 characters.
std::string printable(std::string_view text);

/// "a, b, c"
std::string list(std::span<const std::string_view> words);

}  // namespace roofcast::specs
