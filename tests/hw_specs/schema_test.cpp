// The schemas, the table of fields and the structures of model/gpu.hpp name the same values.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "hw_specs/fields.hpp"
#include "hw_specs/kernel_file.hpp"
#include "tests/hw_specs/support.hpp"

namespace roofcast::specs {
namespace {

bool is_quantity(const Json& schema, const Json& property) {
  if (!property.contains("$ref")) return false;
  const auto target = property["$ref"].get<std::string>().substr(1);
  return schema[Json::json_pointer(target)].value("type", "") == "object";
}

std::vector<std::string> leaves_of(const Json& schema, const Json& node,
                                   const std::string& pointer) {
  if (is_quantity(schema, node)) return {pointer};
  std::vector<std::string> leaves;
  const Json properties = node.value("properties", Json::object());
  for (const auto& [key, property] : properties.items()) {
    const auto inner = leaves_of(schema, property, pointer + '/' + key);
    leaves.insert(leaves.end(), inner.begin(), inner.end());
  }
  return leaves;
}

std::vector<std::string> sorted(std::vector<std::string> words) {
  std::sort(words.begin(), words.end());
  return words;
}

TEST(Schema, NamesTheLeavesOfTheTable) {
  const Json specification = Json::parse(schema_text());
  const Json overlay = Json::parse(overlay_schema_text());
  EXPECT_EQ(sorted(leaves_of(specification, specification, "")), sorted(quantity_leaves()));
  EXPECT_EQ(sorted(leaves_of(overlay, overlay, "")), sorted(sustained_leaves()));
}

void expect_documented(const std::string& pointer, const Json& node) {
  if (!node.is_object()) return;
  if (node.value("type", Json()) == "object") {
    EXPECT_TRUE(node.contains("additionalProperties")) << pointer;
  }
  const Json properties = node.value("properties", Json::object());
  for (const auto& [key, property] : properties.items()) {
    const std::string place = pointer + '/' + key;
    if (pointer.find("definitions") == std::string::npos) {
      EXPECT_FALSE(property.value("description", "").empty()) << place;
    }
    expect_documented(place, property);
  }
  const Json definitions = node.value("definitions", Json::object());
  for (const auto& [key, definition] : definitions.items()) {
    EXPECT_FALSE(definition.value("description", "").empty()) << key;
    expect_documented("definitions/" + key, definition);
  }
}

TEST(Schema, DescribesEveryPropertyAndClosesEveryObject) {
  expect_documented("", Json::parse(schema_text()));
  expect_documented("", Json::parse(overlay_schema_text()));
  expect_documented("", Json::parse(kernel_schema_text()));
}

/// The least that the schema allows, or 1; true for a flag. Nothing where it has no such leaf.
std::optional<std::string> least_value(const Json& schema, const std::string& leaf) {
  const std::size_t slash = leaf.rfind('/');
  const Json::json_pointer property("/properties" + leaf.substr(0, slash) + "/properties" +
                                    leaf.substr(slash));
  if (!schema.contains(property)) return std::nullopt;
  const std::string definition = schema[property].at("$ref").get<std::string>();
  const Json& rules = schema[Json::json_pointer(definition.substr(1) + "/properties/value")];
  if (rules.at("type") == "boolean") return "true";
  if (rules.at("type") == "array") return "[1]";
  return std::to_string(std::max<std::int64_t>(1, rules.value("minimum", std::int64_t{1})));
}

// Each leaf is set alone, by an override.
TEST(Schema, EveryLeafCanBeSet) {
  const Json schema = Json::parse(schema_text());
  const Json overlay = Json::parse(overlay_schema_text());
  std::vector<std::string> leaves = quantity_leaves();
  leaves.insert(leaves.end(), sustained_leaves().begin(), sustained_leaves().end());
  for (const std::string& leaf : leaves) {
    Source source = calibrated("h200-sxm");
    const std::string value =
        least_value(schema, leaf).value_or(least_value(overlay, leaf).value_or("1"));
    source.overrides = {{leaf, value}};
    std::vector<SourcedValue> after;
    try {
      after = values_with_sources(source);
    } catch (const SpecError& error) {  // 1 may be at odds with the other values
      const std::string what = error.what();
      EXPECT_TRUE(what.find("correct one") != std::string::npos ||
                  what.find("within 5%") != std::string::npos)
          << what;
      continue;
    }
    const auto set = std::find_if(after.begin(), after.end(),
                                  [&](const SourcedValue& one) { return one.pointer == leaf; });
    ASSERT_NE(set, after.end()) << leaf;
    EXPECT_EQ(set->value, value) << leaf;
    EXPECT_EQ(set->source, "set by hand") << leaf;
  }
}

}  // namespace
}  // namespace roofcast::specs
