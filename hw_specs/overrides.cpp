#include "hw_specs/overrides.hpp"

#include <algorithm>

#include "hw_specs/fields.hpp"
#include "hw_specs/rules.hpp"
#include "model/types/did_you_mean.hpp"

namespace roofcast::specs {
namespace {

std::vector<std::string_view> all_leaves() {
  std::vector<std::string_view> leaves;
  for (const auto* group : {&plain_leaves(), &quantity_leaves(), &sustained_leaves()}) {
    leaves.insert(leaves.end(), group->begin(), group->end());
  }
  return leaves;
}

/// The leaf that equals the key, else all leaves that end in it. If leaves of the specification and
/// of the calibration match, the specification's win: the calibration's then need their whole path.
std::vector<std::string_view> matches(std::string_view key) {
  std::string path(key);
  std::replace(path.begin(), path.end(), '.', '/');
  if (!path.starts_with('/')) path.insert(path.begin(), '/');
  std::vector<std::string_view> found;
  for (const std::string_view leaf : all_leaves()) {
    if (leaf == path) return {leaf};
    if (leaf.ends_with(path)) found.push_back(leaf);
  }
  const auto calibrated = [](std::string_view leaf) { return leaf.starts_with("/sustained/"); };
  if (!std::all_of(found.begin(), found.end(), calibrated)) std::erase_if(found, calibrated);
  return found;
}

/// The closest spelling among the leaves' whole paths and last words.
std::string_view nearest_leaf(std::string_view key) {
  if (key.size() > 100) return "";
  std::vector<std::string_view> known;
  for (const std::string_view leaf : all_leaves()) {
    known.push_back(leaf.substr(1));
    known.push_back(leaf.substr(leaf.rfind('/') + 1));
  }
  return closest(key, known);
}

std::string mend_of(const std::string& key) {
  const Json schema = Json::parse(overlay_schema_text());
  const Json& renamed = schema["properties"]["sustained"]["renamed"];
  if (renamed.contains(key))
    return "write \"" + renamed[key].get<std::string>() + "\", its name now";
  const std::string_view near = nearest_leaf(key);
  return near.empty() ? "see hw_specs/schema.json for the keys"
                      : "did you mean \"" + std::string(near) + "\"?";
}

Json value_of(const Override& one, const std::string& leaf) {
  Json value = Json::parse(one.value, nullptr, false);
  if (value.is_number() || value.is_string() || value.is_boolean() || value.is_array()) {
    return value;
  }
  throw SpecError(option_text({one}), leaf,
                  "a JSON number, string, true, false or list, found " + printable(one.value),
                  R"(write it as 144, 1.98e9, true, [18, 16] or, for a text, "in double quotes")");
}

void set_quantity(Json& document, const std::string& leaf, const Json& value) {
  document[Json::json_pointer(leaf)] = {{"value", value}, {"source", kOverrideSource}};
}

}  // namespace

std::string leaf_named(const Override& one) {
  const std::vector<std::string_view> found = matches(one.key);
  if (found.size() == 1) return std::string(found.front());
  const std::string file = option_text({one});
  const std::string expected = ", found \"" + printable(one.key) + '"';
  if (!found.empty()) {
    throw SpecError(file, "", "a key that names one value" + expected,
                    "write one of " + list(found));
  }
  throw SpecError(file, "", "a value of the specification" + expected, mend_of(one.key));
}

std::string option_text(const std::vector<Override>& overrides) {
  std::string text;
  for (const Override& one : overrides) {
    if (!text.empty()) text += ", ";
    text += std::string(one.option) + ' ' + printable(one.key) + '=' + printable(one.value);
  }
  return text;
}

void apply(const std::vector<Override>& overrides, Json& specification, Json& overlay) {
  for (const Override& one : overrides) {
    const std::string leaf = leaf_named(one);
    const Json value = value_of(one, leaf);
    if (leaf.starts_with("/sustained/")) {
      if (overlay.is_null()) {
        overlay = {{"gpu", specification["name"]}, {"provenance", {{"run", "values set by hand"}}}};
      }
      set_quantity(overlay, leaf, value);
    } else if (leaf.find('/', 1) == std::string::npos && leaf != "/power_w") {
      specification[leaf.substr(1)] = value;
    } else {
      set_quantity(specification, leaf, value);
    }
  }
}

}  // namespace roofcast::specs
