#pragma once
// Reads a parsed file value by value: every error names the file, the place, what was expected
// there and how to mend it.
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hw_specs/pointer.hpp"

namespace roofcast::specs {

/// A value of a document and its place there. Every reader throws SpecError.
class JsonNode {
 public:
  JsonNode(const std::string& file, const Json& root) : file_(&file), value_(&root) {}

  const Json& value() const { return *value_; }

  JsonNode at(std::string_view key) const;  ///< a member that must be there
  std::optional<JsonNode> find(std::string_view key) const;
  std::vector<JsonNode> items() const;  ///< of an array
  void expect_object() const;
  void allow_only(std::initializer_list<std::string_view> keys) const;

  std::string text() const;
  double number() const;
  double positive(double most) const;      ///< a number above 0 and at most `most`
  double not_negative(double most) const;  ///< a number from 0 to `most`
  std::int64_t integer(std::int64_t least = std::numeric_limits<std::int64_t>::min(),
                       std::int64_t most = std::numeric_limits<std::int64_t>::max()) const;

  /// "expected EXPECTED, found the value. Mend: MEND."
  [[noreturn]] void refuse(const std::string& expected, const std::string& mend) const;

 private:
  JsonNode(const JsonNode& parent, Json::json_pointer place, const Json& value)
      : file_(parent.file_), value_(&value), place_(std::move(place)) {}

  const std::string* file_;
  const Json* value_;
  Json::json_pointer place_;
};

}  // namespace roofcast::specs
