#include "hw_specs/source_rules.hpp"

#include <chrono>
#include <vector>

#include "hw_specs/loader.hpp"
#include "model/types/did_you_mean.hpp"

namespace roofcast::specs {
namespace {

struct Context {
  const Json& sources;
  bool calibration;
  Stage stage;
  const std::string& file;
};

bool is_known(const std::string& source, const Context& context) {
  if (source == "unverified" || source == "arithmetic") return true;
  if (source == kOverrideSource) return context.stage == Stage::overridden;
  if (context.calibration && source.starts_with("measured: ")) return true;
  return context.sources.contains(source);
}

SpecError unknown_source(const std::string& pointer, const std::string& source,
                         const Context& context) {
  std::vector<std::string_view> known = {"unverified", "arithmetic"};
  for (auto entry = context.sources.begin(); entry != context.sources.end(); ++entry) {
    known.emplace_back(entry.key());
  }
  const std::string_view near = closest(std::string_view(source).substr(0, 100), known);
  const std::string mend = near.empty() ? R"(add it to /sources, or write "unverified")"
                                        : "did you mean \"" + printable(near) + "\"?";
  return {context.file, pointer + "/source",
          R"(a key of /sources, "arithmetic" or "unverified", found ")" + printable(source) + '"',
          mend};
}

void check_value(const std::string& pointer, const Json& value, const Context& context) {
  const std::string& source = value["source"].get_ref<const std::string&>();
  if (!is_known(source, context)) throw unknown_source(pointer, source, context);
  if (source == "arithmetic" && !value.contains("note")) {
    throw SpecError(context.file, pointer + "/note",
                    "the formula of a value from arithmetic, found none",
                    R"(add "note": "FORMULA", with the sources of what goes into it)");
  }
}

void check_values(const std::string& pointer, const Json& node, const Context& context) {
  if (!node.is_object()) return;
  if (node.contains("source") && node.contains("value")) {
    check_value(pointer, node, context);
    return;
  }
  for (auto member = node.begin(); member != node.end(); ++member) {
    check_values(child(pointer, member.key()), *member, context);
  }
}

void check_entry(const std::string& key, const Json& entry, const std::string& file) {
  const std::string pointer = child("/sources", key);
  if (!entry.contains("address") && !entry.contains("date")) {
    throw SpecError(file, pointer, R"(an "address" or, for a measurement, a "date", found neither)",
                    "say where to look it up, or when it was measured");
  }
  if (entry.contains("date") && !starts_with_date(entry["date"].get_ref<const std::string&>())) {
    throw SpecError(file, pointer + "/date", "a day, found " + shown(entry["date"]),
                    "write it as 2026-01-31");
  }
}

}  // namespace

bool starts_with_date(std::string_view text) {
  constexpr std::string_view form = "dddd-dd-dd";
  if (text.size() < form.size()) return false;
  for (std::size_t i = 0; i < form.size(); ++i) {
    const bool digit = text[i] >= '0' && text[i] <= '9';
    if (form[i] == 'd' ? !digit : text[i] != form[i]) return false;
  }
  const auto number = [text](std::size_t at, std::size_t digits) {
    unsigned value = 0;
    for (const char digit : text.substr(at, digits)) {
      value = value * 10 + static_cast<unsigned>(digit - '0');
    }
    return value;
  };
  const std::chrono::year year(static_cast<int>(number(0, 4)));
  return (year / std::chrono::month(number(5, 2)) / std::chrono::day(number(8, 2))).ok();
}

void check_sources(const Json& document, bool calibration, Stage stage, const std::string& file) {
  const Json none = Json::object();
  const Json* sources = find(document, "/sources");
  const Context context{sources != nullptr ? *sources : none, calibration, stage, file};
  for (auto entry = context.sources.begin(); entry != context.sources.end(); ++entry) {
    check_entry(entry.key(), *entry, file);
  }
  for (auto member = document.begin(); member != document.end(); ++member) {
    if (member.key() != "sources") check_values(child("", member.key()), *member, context);
  }
}

}  // namespace roofcast::specs
