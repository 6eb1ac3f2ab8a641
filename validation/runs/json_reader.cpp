#include "validation/runs/json_reader.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "model/types/problem.hpp"

namespace roofcast::validation {
namespace {

using nlohmann::json;

/// RFC 6901: ~ and / inside a key.
std::string escaped(std::string_view key) {
  std::string out;
  for (const char c : key) {
    if (c == '~') {
      out += "~0";
    } else if (c == '/') {
      out += "~1";
    } else {
      out += c;
    }
  }
  return out;
}

std::string shown(const json& value) {
  constexpr std::size_t kLongest = 60;
  std::string text = value.dump(-1, ' ', false, json::error_handler_t::replace);
  if (text.size() > kLongest) {
    text =
        fmt::format("{} of {} entries", value.is_array() ? "an array" : "an object", value.size());
    if (value.is_string()) text = "a long text";
  }
  return text;
}

/// Follows the parser through the document: where it stands, and the keys of each open object.
class DuplicateGuard {
 public:
  explicit DuplicateGuard(const std::string& file) : file_(file) {}

  bool operator()(int /*depth*/, json::parse_event_t event, json& parsed) {
    switch (event) {
      case json::parse_event_t::object_start:
      case json::parse_event_t::array_start:
        count_item();
        open_.push_back({event == json::parse_event_t::array_start, {}, "", -1});
        break;
      case json::parse_event_t::key: {
        Frame& frame = open_.back();
        frame.key = parsed.get<std::string>();
        if (!frame.seen.insert(frame.key).second) {
          refuse(file_, pointer(), "the same key a second time", "keep one of the two");
        }
        break;
      }
      case json::parse_event_t::value:
        count_item();
        break;
      case json::parse_event_t::object_end:
      case json::parse_event_t::array_end:
        open_.pop_back();
        break;
    }
    return true;
  }

 private:
  struct Frame {
    bool array;
    std::set<std::string> seen;
    std::string key;
    std::int64_t index;
  };

  void count_item() {
    if (!open_.empty() && open_.back().array) ++open_.back().index;
  }

  std::string pointer() const {
    std::string out;
    for (const Frame& frame : open_) {
      out += '/';
      out += frame.array ? std::to_string(frame.index) : escaped(frame.key);
    }
    return out;
  }

  const std::string& file_;
  std::vector<Frame> open_;
};

}  // namespace

void refuse(const std::string& file, const std::string& pointer, const std::string& problem,
            const std::string& mend) {
  throw InputError(fmt::format("{}: at {}: {}. Mend: {}.", file,
                               pointer.empty() ? "the top level" : pointer, problem, mend));
}

json parse_json(const std::string& file, const std::string& text, const std::string& mend) {
  DuplicateGuard guard(file);
  try {
    return json::parse(text, [&](int depth, json::parse_event_t event, json& parsed) {
      return guard(depth, event, parsed);
    });
  } catch (const json::exception& error) {
    // "[json.exception.parse_error.101] parse error at line 3, column 5: …": keep the last part.
    const std::string_view what = error.what();
    const std::size_t bracket = what.find("] ");
    throw InputError(
        fmt::format("{}: not JSON: {}. Mend: {}.", file,
                    bracket == std::string_view::npos ? what : what.substr(bracket + 2), mend));
  }
}

void JsonNode::refuse(const std::string& expected, const std::string& mend) const {
  validation::refuse(file(), pointer_,
                     fmt::format("expected {}, found {}", expected, shown(*value_)), mend);
}

JsonNode JsonNode::child(const std::string& step, const json& value) const {
  JsonNode node = *this;
  node.value_ = &value;
  node.pointer_ += '/';
  node.pointer_ += step;
  return node;
}

void JsonNode::expect_object() const {
  if (!value_->is_object()) refuse("an object", "write it as {\"key\": value, …}");
}

void JsonNode::allow_only(std::initializer_list<std::string_view> keys) const {
  expect_object();
  for (const auto& [key, unused] : value_->items()) {
    if (std::find(keys.begin(), keys.end(), key) != keys.end()) continue;
    validation::refuse(
        file(), fmt::format("{}/{}", pointer_, escaped(key)),
        fmt::format("expected one of {}, found an unknown key \"{}\"", fmt::join(keys, ", "), key),
        "correct the spelling or remove it");
  }
}

std::optional<JsonNode> JsonNode::find(std::string_view key) const {
  expect_object();
  const auto found = value_->find(std::string(key));
  if (found == value_->end()) return std::nullopt;
  return child(escaped(key), *found);
}

JsonNode JsonNode::at(std::string_view key) const {
  if (auto node = find(key)) return *node;
  validation::refuse(file(), pointer_, fmt::format("expected the key \"{}\", found none", key),
                     fmt::format("add \"{}\"", key));
}

std::vector<JsonNode> JsonNode::items() const {
  if (!value_->is_array()) refuse("an array", "write it as [ … ]");
  std::vector<JsonNode> nodes;
  nodes.reserve(value_->size());
  for (const json& item : *value_) nodes.push_back(child(std::to_string(nodes.size()), item));
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

std::int64_t JsonNode::integer() const {
  const bool too_large =
      value_->is_number_unsigned() && value_->get<std::uint64_t>() > std::uint64_t{INT64_MAX};
  if (!value_->is_number_integer() || too_large) {
    refuse("an integer", "write it without decimals or exponent");
  }
  return value_->get<std::int64_t>();
}

}  // namespace roofcast::validation
