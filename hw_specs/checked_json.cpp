#include "hw_specs/checked_json.hpp"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "hw_specs/loader.hpp"

namespace roofcast::specs {
namespace {

// Far above any file of the project. Printing and checking a value take stack for each level.
constexpr std::size_t kMaxDepth = 64;

/// Follows the parser: where it stands, and which keys each open object has had.
class Follower {
 public:
  Follower(const std::string& file, std::string_view mend) : file_(file), mend_(mend) {}

  template <class AnyJson>
  void see(Json::parse_event_t event, const AnyJson& parsed) {
    switch (event) {
      case Json::parse_event_t::object_start:
      case Json::parse_event_t::array_start:
        count_item();
        open(event == Json::parse_event_t::array_start);
        break;
      case Json::parse_event_t::object_end:
      case Json::parse_event_t::array_end:
        levels_.pop_back();
        break;
      case Json::parse_event_t::key:
        enter(parsed.template get_ref<const std::string&>());
        break;
      case Json::parse_event_t::value:
        count_item();
        break;
    }
  }

  std::string pointer() const {
    Json::json_pointer place;
    for (const Level& level : levels_) {
      if (level.items > 0) place.push_back(std::to_string(level.items - 1));
      if (!level.keys.empty()) place.push_back(level.key);
    }
    return place.to_string();
  }

 private:
  struct Level {
    bool array;
    std::size_t items = 0;  // of an array
    std::set<std::string> keys{};
    std::string key{};
  };

  void count_item() {
    if (!levels_.empty() && levels_.back().array) ++levels_.back().items;
  }

  void open(bool array) {
    if (levels_.size() == kMaxDepth) {
      throw SpecError(file_, "", "values nested at most 64 deep, found more", std::string(mend_));
    }
    levels_.push_back({array});
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
  std::string_view mend_;
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

template <class AnyJson>
AnyJson parse_as(const std::string& file, std::string_view text, const FileKind& kind) {
  const std::string mend(kind.mend);
  if (is_blank(text)) throw SpecError(file, "", "a JSON object, found an empty file", mend);
  if (text.size() > kind.most_bytes) {
    throw SpecError(file, "",
                    "at most " + std::to_string(kind.most_bytes >> 20) + " MiB of JSON, found " +
                        std::to_string(text.size()) + " B",
                    mend);
  }
  // The parser takes a NUL for the end and would not see what follows.
  if (const std::size_t nul = text.find('\0'); nul != std::string_view::npos) {
    throw SpecError(file, "", "JSON, found at " + position(text, nul + 1) + ": a NUL byte", mend);
  }
  Follower follower(file, kind.mend);
  try {
    return AnyJson::parse(text, [&](int, Json::parse_event_t event, const AnyJson& parsed) {
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

}  // namespace

Json parse_checked(const std::string& file, std::string_view text, const FileKind& kind) {
  return parse_as<Json>(file, text, kind);
}

nlohmann::ordered_json parse_ordered(const std::string& file, std::string_view text,
                                     const FileKind& kind) {
  return parse_as<nlohmann::ordered_json>(file, text, kind);
}

}  // namespace roofcast::specs
