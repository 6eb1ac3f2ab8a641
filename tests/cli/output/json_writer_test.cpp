#include "cli/output/json_writer.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>
#include <random>

namespace roofcast::cli {
namespace {

using nlohmann::json;

std::string number_text(double value) {
  fmt::memory_buffer out;
  JsonWriter(out).number(value);
  return fmt::to_string(out);
}

std::string string_text(std::string_view text) {
  fmt::memory_buffer out;
  JsonWriter(out).string(text);
  return fmt::to_string(out);
}

TEST(JsonWriter, NestsWithCommasWhereTheyBelong) {
  fmt::memory_buffer out;
  JsonWriter writer(out);
  writer.begin_object();
  writer.member("a", 1.5);
  writer.key("list");
  writer.begin_array();
  writer.number(std::int64_t{1});
  writer.string(":");
  writer.begin_object();
  writer.end_object();
  writer.null();
  writer.end_array();
  writer.key("empty");
  writer.begin_array();
  writer.end_array();
  writer.member("text", "x,");
  writer.end_object();
  EXPECT_EQ(fmt::to_string(out), R"({"a":1.5,"list":[1,":",{},null],"empty":[],"text":"x,"})");
}

TEST(JsonWriter, KeysFromOutsideAreEscaped) {
  fmt::memory_buffer out;
  JsonWriter writer(out);
  writer.begin_object();
  writer.foreign_key("a\"b");
  writer.number(1.0);
  writer.end_object();
  EXPECT_EQ(fmt::to_string(out), R"({"a\"b":1})");
}

TEST(JsonWriter, LinesStandApartWithoutCommas) {
  fmt::memory_buffer out;
  JsonWriter writer(out);
  for (int line = 0; line < 2; ++line) {
    writer.begin_object();
    writer.end_object();
    writer.newline();
  }
  EXPECT_EQ(fmt::to_string(out), "{}\n{}\n");
}

TEST(JsonWriter, NumbersReadBackTheSame) {
  std::mt19937_64 bits(1);
  for (int i = 0; i < 20000; ++i) {
    const std::uint64_t pattern = bits();
    double value = 0;
    std::memcpy(&value, &pattern, sizeof value);
    if (!std::isfinite(value)) continue;
    EXPECT_EQ(json::parse(number_text(value)).get<double>(), value) << number_text(value);
  }
  for (const double value : {0.0, -0.0, 1e-300, 5e-324, 1e300, 137438953472.0, 9007199254740993.0,
                             -1e15, 0.1, 1.0 / 3}) {
    EXPECT_EQ(json::parse(number_text(value)).get<double>(), value);
  }
}

TEST(JsonWriter, WhatIsNoNumberIsNull) {
  EXPECT_EQ(number_text(std::numeric_limits<double>::infinity()), "null");
  EXPECT_EQ(number_text(-std::numeric_limits<double>::infinity()), "null");
  EXPECT_EQ(number_text(std::numeric_limits<double>::quiet_NaN()), "null");
}

TEST(JsonWriter, VerySmallAndLargeNumbersHaveAnExponent) {
  EXPECT_EQ(number_text(0.0001), "0.0001");
  EXPECT_EQ(number_text(0.000099), "9.9e-05");
  EXPECT_EQ(number_text(-1.5e-12), "-1.5e-12");
  EXPECT_EQ(number_text(9.5e15), "9500000000000000");
  EXPECT_EQ(number_text(1e16), "1e+16");
}

TEST(JsonWriter, WholeNumbersHaveNoExponent) {
  EXPECT_EQ(number_text(137438953472.0), "137438953472");
  EXPECT_EQ(number_text(4096), "4096");
}

TEST(JsonWriter, StringsReadBackTheSame) {
  for (const std::string& text :
       {std::string("plain"), std::string("Θ(MNK/√S)"), std::string("\"\\/\b\f\n\r\t"),
        std::string("\0\x1f\x7f", 3), std::string("\xf0\x9f\x98\x80")}) {
    EXPECT_EQ(json::parse(string_text(text)).get<std::string>(), text);
  }
}

// Letters are looked at in groups, and the last group may be short.
TEST(JsonWriter, AnyLetterInAnyPlaceReadsBackTheSame) {
  for (std::size_t place = 0; place < 18; ++place) {
    for (int letter = 0; letter < 0x80; ++letter) {
      std::string text(18, 'a');
      text[place] = static_cast<char>(letter);
      const std::string written = string_text(text);
      EXPECT_EQ(json::parse(written).get<std::string>(), text) << written;
      const bool plain = letter >= 0x20 && letter < 0x7f && letter != '"' && letter != '\\';
      EXPECT_EQ(written == '"' + text + '"', plain) << written;
    }
  }
}

TEST(JsonWriter, BrokenUtf8BecomesTheReplacementCharacter) {
  for (const std::string_view text :
       {"\xff", "\xc3", "a\xc0\x80z", "\xed\xa0\x80", "\xf5\x80\x80\x80"}) {
    const auto read = json::parse(string_text(text)).get<std::string>();
    EXPECT_NE(read.find("\xEF\xBF\xBD"), std::string::npos);
  }
}

}  // namespace
}  // namespace roofcast::cli
