#pragma once
// Reading JSON that a person may have written: every complaint names the file, the place, what was
// expected there and how to mend it. Internal to validation/.
#include <cstdint>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace roofcast::validation {

/// Throws InputError "FILE: at POINTER: PROBLEM. Mend: MEND."
[[noreturn]] void refuse(const std::string& file, const std::string& pointer,
                         const std::string& problem, const std::string& mend);

/// The document, or InputError for text that is no JSON or says the same key twice.
nlohmann::json parse_json(const std::string& file, const std::string& text,
                          const std::string& mend);

/// A value inside a document that knows where it stands.
class JsonNode {
 public:
  JsonNode(const std::string& file, const nlohmann::json& root) : file_(&file), value_(&root) {}

  const nlohmann::json& value() const { return *value_; }
  const std::string& file() const { return *file_; }
  const std::string& pointer() const { return pointer_; }

  JsonNode at(std::string_view key) const;  ///< a member that must be there
  std::optional<JsonNode> find(std::string_view key) const;
  std::vector<JsonNode> items() const;  ///< of an array
  void expect_object() const;
  void allow_only(std::initializer_list<std::string_view> keys) const;

  std::string text() const;
  double number() const;
  std::int64_t integer() const;

  [[noreturn]] void refuse(const std::string& expected, const std::string& mend) const;

 private:
  JsonNode child(const std::string& step, const nlohmann::json& value) const;

  const std::string* file_;
  const nlohmann::json* value_;
  std::string pointer_;
};

}  // namespace roofcast::validation
