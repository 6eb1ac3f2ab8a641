#include "cli/output/visible_text.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "cli/output/answer.hpp"

namespace roofcast::cli {
namespace {

TEST(Visible, OrdinaryTextStays) {
  EXPECT_EQ(visible("NVIDIA H200, 71.3% – µs Θ(n) 日本 C:\\new"),
            "NVIDIA H200, 71.3% – µs Θ(n) 日本 C:\\new");
  EXPECT_EQ(visible(""), "");
}

TEST(Visible, WhatATerminalObeysIsShown) {
  EXPECT_EQ(visible("a\x1b[31mb\x07"), "a\\x1b[31mb\\x07");
  EXPECT_EQ(visible("one\ntwo\tthree\r"), "one\\ntwo\\tthree\\x0d");
  EXPECT_EQ(visible(std::string("\0\x7f", 2)), "\\x00\\x7f");
  EXPECT_EQ(visible("\u009b31m"), "\\u009b31m") << "C1, as one character";
  EXPECT_EQ(visible("\x9b"), "\\x9b") << "C1, as a byte";
  EXPECT_EQ(visible("\u202etxt.exe\u2066"), "\\u202etxt.exe\\u2066");
  EXPECT_EQ(visible("\xff\xc3"), "\\xff\\xc3");
  EXPECT_EQ(visible("a\tb\x1b", "\t"), "a\tb\\x1b");
}

TEST(Visible, InJsonTheyAreEscapesToo) {
  fmt::memory_buffer out;
  JsonWriter(out).string("\u009b\x1b µ\xc2");
  EXPECT_EQ(fmt::to_string(out), "\"\\u009b\\u001b µ\xEF\xBF\xBD\"");
}

TEST(Csv, FieldsAreQuotedWhereTheyHaveToBe) {
  EXPECT_EQ(csv_field("plain text"), "plain text");
  EXPECT_EQ(csv_field("a,b"), "\"a,b\"");
  EXPECT_EQ(csv_field("say \"hi\""), "\"say \"\"hi\"\"\"");
  EXPECT_EQ(csv_field("two\nlines\r"), "\"two\nlines\r\"");
  EXPECT_EQ(csv_field("\x1b[2J"), "\\x1b[2J");
  const std::vector<std::string> fields = {"", "a,b", ""};
  EXPECT_EQ(csv_line(fields), ",\"a,b\",\n");
}

}  // namespace
}  // namespace roofcast::cli
