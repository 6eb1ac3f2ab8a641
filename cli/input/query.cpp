#include "cli/input/query.hpp"

#include <fmt/format.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "cli/input/numbers.hpp"
#include "model/types/problem.hpp"

namespace roofcast::cli {

/// Receives nlohmann's SAX events; returning false ends the parse.
class QueryHandler {
 public:
  explicit QueryHandler(Query& query) : query_(query) {}
  const std::string& problem() const { return problem_; }

  bool null() { return refuse("null"); }
  bool binary(nlohmann::json::binary_t& /*value*/) { return refuse("binary data"); }
  bool start_array(std::size_t /*size*/) { return refuse("an array"); }
  bool end_array() { return false; }
  bool boolean(bool value) {
    if (field_ == nullptr) return refuse(value ? "true" : "false");
    field_->kind = QueryField::Kind::flag;
    field_->whole = value ? 1 : 0;
    field_->real = value ? 1 : 0;
    return true;
  }

  bool number_integer(std::int64_t value) {
    if (field_ == nullptr) return refuse("a number");
    field_->kind = QueryField::Kind::whole;
    field_->whole = value;
    field_->real = static_cast<double>(value);
    return true;
  }

  bool number_unsigned(std::uint64_t value) {
    if (value > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
      return fail(fmt::format("{} is {}: beyond any size", name(), value));
    }
    return number_integer(static_cast<std::int64_t>(value));
  }

  bool number_float(double value, const std::string& /*text*/) {
    // Programs may print whole numbers as 4096.0 or 1e6.
    if (const auto whole = whole_of(value)) return number_integer(*whole);
    if (field_ == nullptr) return refuse("a number");
    field_->kind = QueryField::Kind::real;
    field_->real = value;
    return true;
  }

  bool string(std::string& value) {
    if (field_ == nullptr) return refuse("a string");
    field_->kind = QueryField::Kind::text;
    field_->text.assign(value);
    return true;
  }

  bool start_object(std::size_t /*size*/) {
    if (!inside_) {
      inside_ = true;
      return true;
    }
    if (in_set_ || field_ == nullptr || field_->key != kSet) return refuse("an object");
    query_.fields_.remove_last();
    field_ = nullptr;
    in_set_ = had_set_ = true;
    return true;
  }
  bool end_object() {
    in_set_ = false;
    return true;
  }

  bool key(std::string& value) {
    QueryFields& fields = in_set_ ? query_.set_ : query_.fields_;
    bool twice = had_set_ && !in_set_ && value == kSet;
    for (const QueryField& field : fields) twice = twice || field.key == value;
    if (twice) return fail(fmt::format("the key '{}' is given twice", value));
    field_ = &fields.append(value);
    return true;
  }

  bool parse_error(std::size_t position, const std::string& /*token*/,
                   const nlohmann::json::exception& error) {
    // "[json.exception.parse_error.101] parse error at line 1, column 3: …": only what follows ": "
    // is kept, since a query is always line 1 to the parser.
    const std::string_view text = error.what();
    const std::size_t detail = text.find(": ");
    return fail(fmt::format("no JSON, at byte {}: {}", position,
                            detail == std::string_view::npos ? text : text.substr(detail + 2)));
  }

 private:
  std::string_view name() const {
    return field_ != nullptr ? std::string_view(field_->key) : std::string_view("the value");
  }
  bool refuse(std::string_view what) {
    if (field_ == nullptr) return fail(fmt::format("a JSON object is expected, not {}", what));
    return fail(
        fmt::format("'{}' is {}: give a number, a string, true or false", field_->key, what));
  }
  bool fail(std::string why) {
    problem_ = std::move(why);
    return false;
  }

  static constexpr std::string_view kSet = "set";

  Query& query_;
  QueryField* field_ = nullptr;
  bool inside_ = false, in_set_ = false, had_set_ = false;
  std::string problem_;
};

QueryField& QueryFields::append(std::string_view key) {
  if (size_ == fields_.size()) fields_.emplace_back();
  QueryField& field = fields_[size_++];
  field.key.assign(key);
  return field;
}

void Query::read(std::string_view line) {
  fields_.clear();
  set_.clear();
  if (line.size() > kLongest) {
    throw InputError(fmt::format("a query of over {} bytes: no kernel takes as much", kLongest));
  }
  // nlohmann takes a NUL for the end of the text and would not read the rest.
  if (line.find('\0') != std::string_view::npos) {
    throw InputError("no JSON: the line holds a NUL byte");
  }
  QueryHandler handler(*this);
  if (!nlohmann::json::sax_parse(line.data(), line.data() + line.size(), &handler)) {
    throw InputError(handler.problem());
  }
}

}  // namespace roofcast::cli
