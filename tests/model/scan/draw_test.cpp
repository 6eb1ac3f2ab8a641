#include "tests/model/scan/draw.hpp"

#include <gtest/gtest.h>

#include <map>

namespace roofcast::testing {
namespace {

TEST(Draw, IsTheSameEverywhere) {
  static_assert(stable_hash("") == 0xefd01f60ba992926U);
  EXPECT_NE(stable_hash("ab"), stable_hash("ba"));
}

TEST(Draw, ANewNameTakesQuestionsAndMovesNoOther) {
  const std::vector<std::string_view> few = {"a100", "b200", "h100", "v100"};
  std::vector<std::string_view> more = few;
  more.insert(more.begin() + 2, "gb300");
  std::map<std::string_view, int> drawn;
  constexpr int kQuestions = 5000;
  for (int i = 0; i < kQuestions; ++i) {
    const std::string question = "stream.copy --n " + std::to_string(i);
    const std::string_view before = drawn_name(question, few);
    const std::string_view after = drawn_name(question, more);
    ++drawn[after];
    EXPECT_TRUE(after == "gb300" || after == before) << question;
  }
  ASSERT_EQ(drawn.size(), more.size());
  for (const auto& [name, times] : drawn) {
    EXPECT_NEAR(times, kQuestions / 5.0, kQuestions / 25.0) << name;
  }
}

}  // namespace
}  // namespace roofcast::testing
