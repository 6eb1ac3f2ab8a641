#include "hw_specs/json_node.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <vector>

#include "hw_specs/checked_json.hpp"
#include "hw_specs/loader.hpp"

namespace roofcast::specs {
namespace {

const std::string kFile = "f.json";

std::string pointer_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const SpecError& error) {
    return error.pointer();
  }
  return "accepted";
}

TEST(CheckedJson, CountsTheItemsOfArraysInPointers) {
  EXPECT_EQ(
      pointer_of([] { (void)parse_checked(kFile, R"({"a":[1,{"b":[0,[],{"c":1,"c":2}]}]})"); }),
      "/a/1/b/2/c");
  EXPECT_EQ(pointer_of([] { (void)parse_checked(kFile, R"({"a":[{"k":1},{"k":1}]})"); }),
            "accepted");
}

TEST(CheckedJson, KeepsTheOrderOfMembersOnDemand) {
  EXPECT_EQ(parse_ordered(kFile, R"({"b":1,"a":2})").dump(), R"({"b":1,"a":2})");
  EXPECT_THROW((void)parse_ordered(kFile, R"({"b":1,"b":2})"), SpecError);
}

TEST(CheckedJson, RefusesABinaryZeroAndWhatFollowsTheDocument) {
  EXPECT_THROW((void)parse_checked(kFile, std::string("{}\0", 3)), SpecError);
  EXPECT_THROW((void)parse_checked(kFile, std::string("{\"a\0\":1}", 8)), SpecError);
  EXPECT_THROW((void)parse_checked(kFile, "{} 1"), SpecError);
}

TEST(CheckedJson, SixtyFourDeepAndNoDeeper) {
  const auto nested = [](std::size_t depth) {
    return std::string(depth, '[') + std::string(depth, ']');
  };
  EXPECT_NO_THROW((void)parse_checked(kFile, nested(64)));
  EXPECT_THROW((void)parse_checked(kFile, nested(65)), SpecError);
}

/// How often the parser asks a container for its end: once a step of a walk over the members.
thread_local std::size_t ends_asked = 0;

template <class Container>
struct Counted : Container {
  using Container::Container;
  auto end() {
    ++ends_asked;
    return Container::end();
  }
  auto end() const {
    ++ends_asked;
    return Container::end();
  }
};
template <class Key, class Value, class Less, class Allocator>
using CountedMap = Counted<std::map<Key, Value, Less, Allocator>>;
template <class Value, class Allocator>
using CountedVector = Counted<std::vector<Value, Allocator>>;
using CountedJson = nlohmann::basic_json<CountedMap, CountedVector>;

// Counts steps, not time: if each closing brace walked over the members before it, the steps would
// grow with their square.
TEST(CheckedJson, TwiceTheMembersTakeTwiceTheSteps) {
  const auto steps = [](const std::string& item, std::size_t items, bool array) {
    std::string text(1, array ? '[' : '{');
    for (std::size_t i = 0; i < items; ++i) {
      if (i > 0) text += ',';
      if (!array) text += '"' + std::to_string(i) + "\":";
      text += item;
    }
    text += array ? ']' : '}';
    ends_asked = 0;
    const auto parsed = parse_checked_as<CountedJson>(kFile, text, kSpecification);
    EXPECT_EQ(parsed.size(), items);
    return ends_asked;
  };
  constexpr std::size_t kItems = 2000;
  for (const bool array : {true, false}) {
    for (const char* item : {"{}", "[]", "{\"a\":[]}"}) {
      EXPECT_LE(steps(item, 2 * kItems, array), 2 * steps(item, kItems, array) + 10) << item;
      EXPECT_LE(steps(item, kItems, array), 10 * kItems) << item;
    }
  }
}

TEST(CheckedJson, OrderedObjectsHaveFewMembers) {
  std::string text = "{\"0\":0";
  for (std::size_t i = 1; i < kMostOrderedMembers; ++i) text += ",\"" + std::to_string(i) + "\":0";
  EXPECT_NO_THROW((void)parse_ordered(kFile, text + "}"));
  EXPECT_THROW((void)parse_ordered(kFile, text + ",\"x\":0}"), SpecError);
}

TEST(JsonNode, SaysWhereItStands) {
  const Json document = Json::parse(R"({"a/b":[{"x":-1,"t":"text"}],"big":18446744073709551615})");
  const JsonNode root(kFile, document);
  const JsonNode item = root.at("a/b").items().front();
  const std::pair<const char*, std::function<void()>> refusals[] = {
      {"", [&] { (void)root.at("missing"); }},
      {"/a~1b", [&] { (void)root.at("a/b").at("x"); }},
      {"/a~1b/0/x", [&] { (void)item.at("x").text(); }},
      {"/a~1b/0/x", [&] { (void)item.at("x").positive(1); }},
      {"/a~1b/0/x", [&] { (void)item.at("x").not_negative(1); }},
      {"/a~1b/0/x", [&] { (void)item.at("x").integer(0, 9); }},
      {"/a~1b/0/t", [&] { (void)item.at("t").number(); }},
      {"/a~1b/0/t", [&] { item.allow_only({"x"}); }},
      {"/big", [&] { (void)root.at("big").integer(); }},
      {"/big", [&] { (void)root.at("big").items(); }}};
  for (const auto& [pointer, action] : refusals) EXPECT_EQ(pointer_of(action), pointer);
  EXPECT_EQ(item.at("x").integer(-1, 0), -1);
  EXPECT_EQ(item.at("x").number(), -1);
  EXPECT_FALSE(item.find("y").has_value());
}

TEST(SpecErrorText, ControlCharactersAreShownNotObeyed) {
  const SpecError error("f.json", "/\x1b[31m", "x", "y");
  EXPECT_EQ(std::string(error.what()).find('\x1b'), std::string::npos);
  EXPECT_NE(std::string(error.what()).find("u001b"), std::string::npos);
}

}  // namespace
}  // namespace roofcast::specs
