#include "hw_specs/checked_json.hpp"

#include <algorithm>
#include <cstdint>
#include <set>
#include <vector>

#include "hw_specs/loader.hpp"

namespace roofcast::specs {
namespace {

// No file of the project is nearly this deep. Printing and checking a value recurse by level.
constexpr std::size_t kMaxDepth = 64;

bool is_blank(std::string_view text) {
  return text.find_first_not_of(" \t\r\n") == std::string_view::npos;
}

/// "line 3, column 7" of a byte, counted from 1.
std::string position(std::string_view text, std::size_t byte) {
  const std::string_view before = text.substr(0, std::min(byte, text.size()));
  const auto line = std::count(before.begin(), before.end(), '\n') + 1;
  const std::size_t newline = before.rfind('\n');
  const std::size_t start = newline == std::string_view::npos ? 0 : newline + 1;
  return "line " + std::to_string(line) + ", column " + std::to_string(before.size() - start);
}

/// The reason in nlohmann's message: the text after "… column 7: ".
std::string reason(std::string_view what) {
  const std::size_t column = what.find("column");
  const std::size_t colon = what.find(": ", column == std::string_view::npos ? 0 : column);
  if (colon != std::string_view::npos) what.remove_prefix(colon + 2);
  std::string ascii(what);
  std::replace_if(
      ascii.begin(), ascii.end(), [](char c) { return c < ' ' || c > '~'; }, '?');
  return ascii;
}

void expect_text(const std::string& file, std::string_view text, const FileKind& kind) {
  const std::string mend(kind.mend);
  if (is_blank(text)) throw SpecError(file, "", "a JSON object, found an empty file", mend);
  if (text.size() > kind.most_bytes) {
    throw SpecError(file, "",
                    "at most " + std::to_string(kind.most_bytes >> 20) + " MiB of JSON, found " +
                        std::to_string(text.size()) + " B",
                    mend);
  }
  // The parser would end at a NUL byte and ignore the rest of the text.
  if (const std::size_t nul = text.find('\0'); nul != std::string_view::npos) {
    throw SpecError(file, "", "JSON, found at " + position(text, nul + 1) + ": a NUL byte", mend);
  }
}

/// nlohmann's SAX handler. Tracks the parser's place and the keys of every open object.
class Checker {
 public:
  Checker(const std::string& file, std::string_view text, const FileKind& kind)
      : file_(file), text_(text), kind_(kind) {}

  bool null() { return count_item(); }
  bool boolean(bool /*value*/) { return count_item(); }
  bool number_integer(std::int64_t /*value*/) { return count_item(); }
  bool number_unsigned(std::uint64_t /*value*/) { return count_item(); }
  bool number_float(double /*value*/, const std::string& /*text*/) { return count_item(); }
  bool string(std::string& /*value*/) { return count_item(); }
  bool binary(Json::binary_t& /*value*/) { return count_item(); }
  bool start_object(std::size_t /*size*/) { return open(false); }
  bool start_array(std::size_t /*size*/) { return open(true); }
  bool end_object() { return close(); }
  bool end_array() { return close(); }

  bool key(const std::string& key) {
    Level& level = levels_.back();
    level.key = key;
    if (!level.keys.insert(key).second) {
      throw SpecError(file_, pointer(), "each key once, found \"" + printable(key) + "\" twice",
                      "remove one of the two");
    }
    if (level.keys.size() > kind_.most_members) {
      throw SpecError(
          file_, "",
          "at most " + std::to_string(kind_.most_members) + " members in an object, found more",
          std::string(kind_.mend));
    }
    return true;
  }

  [[noreturn]] bool parse_error(std::size_t byte, const std::string& /*token*/,
                                const Json::exception& error) {
    if (dynamic_cast<const Json::out_of_range*>(&error) != nullptr) {
      throw SpecError(file_, pointer(),
                      "a number within the range of a double, found " + reason(error.what()),
                      "write the value in the unit that the key names");
    }
    throw SpecError(file_, pointer(),
                    "JSON, found at " + position(text_, byte) + ": " + reason(error.what()),
                    "correct the syntax there");
  }

 private:
  struct Level {
    bool array;
    std::size_t items = 0;  // elements of an array so far
    std::set<std::string> keys{};
    std::string key{};
  };

  bool count_item() {
    if (!levels_.empty() && levels_.back().array) ++levels_.back().items;
    return true;
  }

  bool open(bool array) {
    count_item();
    if (levels_.size() == kMaxDepth) {
      throw SpecError(file_, "", "values nested at most 64 deep, found more",
                      std::string(kind_.mend));
    }
    levels_.push_back({array});
    return true;
  }

  bool close() {
    levels_.pop_back();
    return true;
  }

  std::string pointer() const {
    Json::json_pointer place;
    for (const Level& level : levels_) {
      if (level.items > 0) place.push_back(std::to_string(level.items - 1));
      if (!level.keys.empty()) place.push_back(level.key);
    }
    return place.to_string();
  }

  const std::string& file_;
  std::string_view text_;
  const FileKind& kind_;
  std::vector<Level> levels_;
};

}  // namespace

void check_text(const std::string& file, std::string_view text, const FileKind& kind) {
  expect_text(file, text, kind);
  Checker checker(file, text, kind);
  Json::sax_parse(text, &checker);
}

Json parse_checked(const std::string& file, std::string_view text, const FileKind& kind) {
  return parse_checked_as<Json>(file, text, kind);
}

nlohmann::ordered_json parse_ordered(const std::string& file, std::string_view text) {
  FileKind kind = kSpecification;
  kind.most_members = kMostOrderedMembers;
  return parse_checked_as<nlohmann::ordered_json>(file, text, kind);
}

}  // namespace roofcast::specs
