#pragma once
// One line of a batch: a JSON object, read without building a document. It is flat except for
// "set", an object of values of the specification by their keys.
#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "model/types/problem.hpp"

namespace roofcast::cli {

/// A member of the object. The strings keep their memory from line to line.
struct QueryField {
  enum class Kind : unsigned char { whole, real, text, flag };
  std::string key;
  Kind kind = Kind::whole;
  std::int64_t whole = 0;  ///< for a flag 1 (true) or 0
  double real = 0;
  std::string text;
};

/// The member's text. InputError where it is no text.
inline const std::string& text_of(const QueryField& field) {
  if (field.kind == QueryField::Kind::text) return field.text;
  throw InputError(fmt::format("'{}' takes a string", field.key));
}

/// Members of an object, in their order; clear() keeps their memory.
class QueryFields {
 public:
  const QueryField* begin() const { return fields_.data(); }
  const QueryField* end() const { return fields_.data() + size_; }
  bool empty() const { return size_ == 0; }
  void clear() { size_ = 0; }
  QueryField& append(std::string_view key);
  void remove_last() { --size_; }

 private:
  std::vector<QueryField> fields_;
  std::size_t size_ = 0;
};

class Query {
 public:
  /// Most bytes of a line, far beyond the parameters of any kernel: the search for duplicate keys
  /// takes time quadratic in the members.
  static constexpr std::size_t kLongest = 65536;

  /// Reads a line. InputError for text that is no such JSON object, and for a key given twice.
  void read(std::string_view line);

  /// All members but "set".
  const QueryField* begin() const { return fields_.begin(); }
  const QueryField* end() const { return fields_.end(); }
  const QueryFields& set() const { return set_; }

 private:
  friend class QueryHandler;
  QueryFields fields_, set_;
};

}  // namespace roofcast::cli
