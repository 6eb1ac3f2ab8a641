#include "hw_specs/json_node.hpp"

#include <algorithm>

#include "hw_specs/loader.hpp"

namespace roofcast::specs {
namespace {

constexpr const char* kUnitMend = "write the value in the unit that the key names";

std::string text_of(double number) {
  return shown(Json(number));
}

}  // namespace

void JsonNode::refuse(const std::string& expected, const std::string& mend) const {
  throw SpecError(*file_, place_.to_string(), expected + ", found " + shown(*value_), mend);
}

void JsonNode::expect_object() const {
  if (!value_->is_object()) refuse("an object", "write it as {\"key\": value, …}");
}

void JsonNode::allow_only(std::initializer_list<std::string_view> keys) const {
  expect_object();
  for (const auto& [key, unused] : value_->items()) {
    if (std::find(keys.begin(), keys.end(), key) != keys.end()) continue;
    throw SpecError(*file_, (place_ / key).to_string(),
                    "one of " + list({keys.begin(), keys.size()}) + ", found an unknown key \"" +
                        printable(key) + '"',
                    "correct the spelling or remove it");
  }
}

std::optional<JsonNode> JsonNode::find(std::string_view key) const {
  expect_object();
  const auto found = value_->find(std::string(key));
  if (found == value_->end()) return std::nullopt;
  return JsonNode(*this, place_ / std::string(key), *found);
}

JsonNode JsonNode::at(std::string_view key) const {
  if (auto node = find(key)) return *node;
  const std::string quoted = '"' + std::string(key) + '"';
  throw SpecError(*file_, place_.to_string(), "the key " + quoted + ", found none",
                  "add " + quoted);
}

std::vector<JsonNode> JsonNode::items() const {
  if (!value_->is_array()) refuse("an array", "write it as [ … ]");
  std::vector<JsonNode> nodes;
  nodes.reserve(value_->size());
  for (const Json& item : *value_) nodes.push_back({*this, place_ / nodes.size(), item});
  return nodes;
}

std::string JsonNode::text() const {
  if (!value_->is_string()) refuse("a text", "put it in quotation marks");
  return value_->get<std::string>();
}

double JsonNode::number() const {
  if (!value_->is_number()) refuse("a number", "write it without quotation marks");
  return value_->get<double>();
}

double JsonNode::positive(double most) const {
  const double found = number();
  if (!(found > 0 && found <= most)) {
    refuse("a number above 0 and at most " + text_of(most), kUnitMend);
  }
  return found;
}

double JsonNode::not_negative(double most) const {
  const double found = number();
  if (!(found >= 0 && found <= most)) refuse("a number from 0 to " + text_of(most), kUnitMend);
  return found;
}

std::int64_t JsonNode::integer(std::int64_t least, std::int64_t most) const {
  const bool too_large =
      value_->is_number_unsigned() &&
      value_->get<std::uint64_t>() > std::uint64_t{std::numeric_limits<std::int64_t>::max()};
  if (!value_->is_number_integer() || too_large) {
    refuse("an integer", "write it without decimals or exponent");
  }
  const auto found = value_->get<std::int64_t>();
  if (found < least || found > most) {
    refuse("an integer from " + std::to_string(least) + " to " + std::to_string(most), kUnitMend);
  }
  return found;
}

}  // namespace roofcast::specs
