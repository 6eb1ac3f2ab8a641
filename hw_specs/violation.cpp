#include "hw_specs/violation.hpp"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "hw_specs/loader.hpp"
#include "model/types/did_you_mean.hpp"

namespace roofcast::specs {
namespace {

constexpr std::size_t kLongestTypo = 100;  // a longer word is no typo of a key

/// The schema's rules for one place ($ref resolved) and its description.
struct Place {
  const Json* rules = nullptr;
  std::string description;
};

const Json& resolved(const Json& schema, const Json& node) {
  const auto reference = node.find("$ref");
  if (reference == node.end()) return node;
  return *find(schema, reference->get<std::string>().substr(1));
}

std::string description_of(const Json& node) {
  return node.value("description", "");
}

// The description of a quantity stands on the quantity, not on the "value" inside it.
Place place_of(const Json& schema, std::string_view pointer) {
  Place place{&schema, description_of(schema)};
  while (!pointer.empty()) {
    const std::size_t end = std::min(pointer.find('/', 1), pointer.size());
    const std::string_view token = pointer.substr(0, end);
    pointer.remove_prefix(end);
    const Json* properties = find(*place.rules, "/properties");
    const Json* next = properties != nullptr ? find(*properties, token) : nullptr;
    if (next == nullptr) next = find(*place.rules, "/additionalProperties");
    if (next == nullptr || !next->is_object()) return {};
    const Json& rules = resolved(schema, *next);
    std::string description = description_of(*next);
    if (description.empty()) description = description_of(rules);
    if (!description.empty()) place.description = std::move(description);
    place.rules = &rules;
  }
  return place;
}

std::string number_text(const Json& bound) {
  return bound.dump();
}

/// "a number above 0", "an integer of at least 1"
std::string constraint_text(const Json& rules) {
  if (rules.contains("enum")) return "one of " + rules["enum"].dump();
  const std::string type = rules.value("type", "value");
  const bool is_vowel = std::string_view("aio").find(type.front()) != std::string_view::npos;
  std::string text = (is_vowel ? "an " : "a ") + type;
  if (rules.contains("exclusiveMinimum")) {
    text += " above " + number_text(rules["exclusiveMinimum"]);
  }
  if (rules.contains("minimum")) text += " of at least " + number_text(rules["minimum"]);
  if (rules.contains("maximum")) text += " and at most " + number_text(rules["maximum"]);
  if (rules.contains("minLength")) {
    text += " of " + number_text(rules["minLength"]) + " to " +
            number_text(rules.value("maxLength", Json("any number of"))) + " characters";
  }
  return text;
}

bool has_type(const Json& value, const std::string& type) {
  if (type == "object") return value.is_object();
  if (type == "string") return value.is_string();
  if (type == "integer") return value.is_number_integer();
  if (type == "number") return value.is_number();
  if (type == "boolean") return value.is_boolean();
  return true;
}

bool is_quantity(const Json& rules) {
  return find(rules, "/properties/value") != nullptr;
}

std::string type_mend(const Json& value, const Json& rules) {
  const std::string type = rules.value("type", "value");
  if (is_quantity(rules)) {
    const bool whole = value.is_number() || value.is_boolean();
    const std::string number = whole ? shown(value) : "NUMBER";
    return R"(write {"value": )" + number +
           R"(, "source": "KEY"}, KEY from /sources or "unverified")";
  }
  if (type == "integer" && value.is_number()) return "write it without a point and an exponent";
  if (value.is_null()) return "leave the key out where the value is unknown";
  if (value.is_string() && (type == "integer" || type == "number")) {
    return "write the number without quotes";
  }
  return "write " + constraint_text(rules);
}

std::optional<std::string> unknown_key(const Json& value, const Json& rules) {
  if (!rules.contains("properties")) return std::nullopt;
  if (find(rules, "/additionalProperties") != nullptr && rules["additionalProperties"] != false) {
    return std::nullopt;
  }
  for (auto member = value.begin(); member != value.end(); ++member) {
    if (!rules["properties"].contains(member.key())) return member.key();
  }
  return std::nullopt;
}

std::optional<std::string> missing_key(const Json& value, const Json& rules) {
  const auto required = rules.find("required");
  if (required == rules.end()) return std::nullopt;
  for (const Json& key : *required) {
    if (!value.contains(key.get<std::string>())) return key.get<std::string>();
  }
  return std::nullopt;
}

SpecError unknown_key_error(const std::string& file, const std::string& pointer,
                            const std::string& key, const Json& rules) {
  std::vector<std::string_view> known;
  const Json& properties = rules["properties"];
  for (auto property = properties.begin(); property != properties.end(); ++property) {
    if (property.key() != "$schema") known.emplace_back(property.key());
  }
  const std::string_view near = key.size() <= kLongestTypo ? closest(key, known) : "";
  std::string mend = near.empty() ? "remove it" : "did you mean \"" + std::string(near) + "\"?";
  if (const Json* renamed = find(rules, child("/renamed", key))) {
    mend = "write \"" + renamed->get<std::string>() + "\", its name now";
  }
  return {file, child(pointer, key),
          "one of the keys " + list(known) + ", found \"" + printable(key) + '"', mend};
}

SpecError missing_key_error(const std::string& file, const Json& schema, const std::string& pointer,
                            const std::string& key) {
  const std::string place = child(pointer, key);
  const Place wanted = place_of(schema, place);
  const std::string example = wanted.rules != nullptr && is_quantity(*wanted.rules)
                                  ? R"({"value": NUMBER, "source": "KEY"})"
                                  : "VALUE";
  return {file, place, "this key (" + wanted.description + "), found none",
          "add \"" + key + "\": " + example};
}

}  // namespace

void throw_violation(const Json& document, const Json& schema, const Violation& violation,
                     const std::string& file) {
  const Place place = place_of(schema, violation.pointer);
  const Json* value = find(document, violation.pointer);
  if (place.rules == nullptr || value == nullptr) {
    throw SpecError(file, violation.pointer, "what the schema allows, found: " + violation.words,
                    "see hw_specs/schema.json");
  }
  const Json& rules = *place.rules;
  if (has_type(*value, rules.value("type", "")) && value->is_object()) {
    if (const auto key = unknown_key(*value, rules)) {
      throw unknown_key_error(file, violation.pointer, *key, rules);
    }
    if (const auto key = missing_key(*value, rules)) {
      throw missing_key_error(file, schema, violation.pointer, *key);
    }
  }
  const bool wrong_type = !has_type(*value, rules.value("type", ""));
  throw SpecError(file, violation.pointer,
                  constraint_text(rules) + " (" + place.description + "), found " + shown(*value),
                  wrong_type ? type_mend(*value, rules) : "write " + constraint_text(rules));
}

}  // namespace roofcast::specs
