#include "hw_specs/json_node.hpp"

#include <gtest/gtest.h>

#include <functional>

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
