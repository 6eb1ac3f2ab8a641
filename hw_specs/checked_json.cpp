#include "hw_specs/checked_json.hpp"

#include <algorithm>
#include <cstddef>
#include <set>
#include <utility>
#include <vector>

#include "hw_specs/loader.hpp"

namespace roofcast::specs {
namespace {

// Far above any specification; they keep hostile input from taking time or stack.
constexpr std::size_t kMaxBytes = 1 << 20;
constexpr std::size_t kMaxDepth = 16;

/// Follows the parser: where it stands, and which keys each open object has had.
class Follower {
 public:
  explicit Follower(const std::string& file) : file_(file) {}

  void see(Json::parse_event_t event, const Json& parsed) {
    switch (event) {
      case Json::parse_event_t::object_start:
      case Json::parse_event_t::array_start:
        open();
        break;
      case Json::parse_event_t::object_end:
      case Json::parse_event_t::array_end:
        levels_.pop_back();
        break;
      case Json::parse_event_t::key:
        enter(parsed.get_ref<const std::string&>());
        break;
      case Json::parse_event_t::value:
        break;
    }
  }

  std::string pointer() const {
    std::string result;
    for (const Level& level : levels_) {
      if (!level.keys.empty()) result = child(result, level.key);
    }
    return result;
  }

 private:
  struct Level {
    std::set<std::string> keys;
    std::string key;
  };

  void open() {
    if (levels_.size() == kMaxDepth) {
      throw SpecError(file_, pointer(), "objects nested at most 16 deep, found more",
                      "follow the groups of hw_specs/schema.json");
    }
    levels_.emplace_back();
  }

  void enter(const std::string& key) {
    Level& level = levels_.back();
    level.key = key;
    if (!level.keys.insert(key).second) {
      throw SpecError(file_, pointer(), "each key once, found \"" + printable(key) + "\" twice",
                      "remove one of the two");
    }
  }

  const std::string& file_;
  std::vector<Level> levels_;
};

/// "line 3, column 7" of a byte, counted from 1.
std::string position(std::string_view text, std::size_t byte) {
  const std::string_view before = text.substr(0, std::min(byte, text.size()));
  const auto line = std::count(before.begin(), before.end(), '\n') + 1;
  const std::size_t newline = before.rfind('\n');
  const std::size_t start = newline == std::string_view::npos ? 0 : newline + 1;
  return "line " + std::to_string(line) + ", column " + std::to_string(before.size() - start);
}

/// The parser's own words: what follows "… column 7: ".
std::string reason(std::string_view what) {
  const std::size_t column = what.find("column");
  const std::size_t colon = what.find(": ", column == std::string_view::npos ? 0 : column);
  if (colon != std::string_view::npos) what.remove_prefix(colon + 2);
  std::string ascii(what);
  std::replace_if(
      ascii.begin(), ascii.end(), [](char c) { return c < ' ' || c > '~'; }, '?');
  return ascii;
}

bool is_blank(std::string_view text) {
  return text.find_first_not_of(" \t\r\n") == std::string_view::npos;
}

}  // namespace

Json parse_checked(const std::string& file, std::string_view text) {
  if (is_blank(text)) {
    throw SpecError(file, "", "a JSON object, found an empty file",
                    "start from a specification in hw_specs/");
  }
  if (text.size() > kMaxBytes) {
    throw SpecError(file, "", "at most 1 MiB of JSON, found " + std::to_string(text.size()) + " B",
                    "give a specification file");
  }
  Follower follower(file);
  try {
    return Json::parse(text, [&](int, Json::parse_event_t event, const Json& parsed) {
      follower.see(event, parsed);
      return true;
    });
  } catch (const Json::parse_error& error) {
    throw SpecError(file, follower.pointer(),
                    "JSON, found at " + position(text, error.byte) + ": " + reason(error.what()),
                    "correct the syntax there");
  } catch (const Json::out_of_range& error) {
    throw SpecError(file, follower.pointer(),
                    "a number within the range of a double, found " + reason(error.what()),
                    "write the value in the unit that the key names");
  }
}

}  // namespace roofcast::specs
