#include "cli/commands/batch_lines.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

namespace roofcast::cli {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

constexpr const char* kGood = R"({"kernel":"gemm.tiled","gpu":"h200-sxm","m":512,"n":256,"k":128})";

json answer(Batch& batch, std::string_view line, std::int64_t number = 1) {
  fmt::memory_buffer out;
  batch.answer(line, number, out);
  const std::string text = fmt::to_string(out);
  EXPECT_EQ(text.find('\n'), text.size() - 1);
  return json::parse(text);
}

std::string refusal(std::string_view line) {
  Batch batch({});
  const json object = answer(batch, line, 7);
  EXPECT_EQ(object.value("line", 0), 7) << object;
  EXPECT_EQ(object.size(), 2U) << object;
  return object.at("error").at("message");
}

TEST(Batch, AnswersALine) {
  Batch batch({});
  const json object = answer(batch, kGood);
  EXPECT_EQ(object.at("kernel"), "gemm.tiled");
  EXPECT_EQ(object.at("gpu"), "h200-sxm");
  EXPECT_EQ(object.at("problem").at("m"), 512);
  EXPECT_EQ(object.at("problem").at("dtype"), "fp32");
}

TEST(Batch, TheOrderOfMembersDoesNotMatter) {
  Batch batch({});
  EXPECT_EQ(
      answer(batch, kGood),
      answer(
          batch,
          R"({"k":128,"dtype":"fp32","n":256,"gpu":"h200-sxm","m":512.0,"kernel":"gemm.tiled"})"));
}

TEST(Batch, EachLineMayAssumeOtherwise) {
  Batch batch({});
  const json faster = answer(
      batch,
      R"({"kernel":"gemm.tiled","gpu":"h200-sxm","m":512,"n":256,"k":128,"cache":"steady","sm_clock_hz":1.2e9})");
  EXPECT_EQ(faster.at("time").at("sm_clock_hz"), 1.2e9);
  const auto product_s = [&](const std::string& also) {
    return answer(batch, R"({"kernel":"gemm.library","gpu":"h200-sxm","m":4096,"n":4096,"k":4096,)"
                         R"("dtype":"bf16")" +
                             also + "}")
        .at("time")
        .at("expected_s")
        .get<double>();
  };
  EXPECT_GT(product_s(R"(,"worked_s":1)"), 1.08 * product_s(""));
}

TEST(Batch, DefaultsHoldWhereALineIsSilent) {
  BatchDefaults defaults;
  defaults.gpu = "a100-sxm4-80gb";
  defaults.dtype = DType::fp16;
  Batch batch(std::move(defaults));
  const json object = answer(batch, R"({"kernel":"stream.copy","n":1000000})");
  EXPECT_EQ(object.at("gpu"), "a100-sxm4-80gb");
  EXPECT_EQ(object.at("problem").at("dtype"), "fp16");
}

TEST(Batch, RefusalsSayWhatIsWrong) {
  EXPECT_THAT(refusal(""), HasSubstr("JSON"));
  EXPECT_THAT(refusal("{"), HasSubstr("JSON"));
  EXPECT_THAT(refusal("[1]"), HasSubstr("object is expected"));
  EXPECT_THAT(refusal("3"), HasSubstr("object is expected"));
  EXPECT_THAT(refusal("{} {}"), HasSubstr("JSON"));
  EXPECT_THAT(refusal("{}"), HasSubstr("'kernel' is missing"));
  EXPECT_THAT(refusal(R"({"kernel":"gemm.tiled","m":1})"), HasSubstr("'gpu' is missing"));
  EXPECT_THAT(refusal(R"({"kernel":"gemm.tild","gpu":"h200-sxm"})"), HasSubstr("gemm.tiled"));
  EXPECT_THAT(refusal(R"({"kernel":"gemm.tiled","gpu":"h200-sx"})"), HasSubstr("h200-sxm"));
  EXPECT_THAT(refusal(R"({"kernel":"gemm.tiled","gpu":"h200-sxm","m":1,"n":1})"), HasSubstr("k"));
  EXPECT_THAT(refusal(R"({"kernel":"gemm.tiled","gpu":"h200-sxm","m":1,"n":1,"k":0})"),
              HasSubstr("k is 0"));
  EXPECT_THAT(refusal(R"({"kernel":"gemm.tiled","gpu":"h200-sxm","mm":1})"), HasSubstr("'m'"));
  EXPECT_THAT(refusal(R"({"kernel":"gemm.tiled","gpu":"h200-sxm","m":1,"m":2})"),
              HasSubstr("given twice"));
  EXPECT_THAT(refusal(R"({"kernel":"gemm.tiled","gpu":"h200-sxm","m":1.5})"),
              HasSubstr("whole number"));
  EXPECT_THAT(refusal(R"({"kernel":"gemm.tiled","gpu":"h200-sxm","m":"4"})"),
              HasSubstr("whole number"));
  EXPECT_THAT(refusal(R"({"kernel":"gemm.tiled","gpu":"h200-sxm","m":1e400})"), HasSubstr("1e400"));
  EXPECT_THAT(refusal(R"({"kernel":"gemm.tiled","gpu":"h200-sxm","m":18446744073709551615})"),
              HasSubstr("beyond any size"));
  EXPECT_THAT(refusal(R"({"kernel":"gemm.tiled","gpu":"h200-sxm","m":[1]})"),
              HasSubstr("an array"));
  EXPECT_THAT(refusal(R"({"kernel":"gemm.tiled","gpu":"h200-sxm","m":{}})"),
              HasSubstr("an object"));
  EXPECT_THAT(refusal(R"({"kernel":"gemm.tiled","gpu":"h200-sxm","m":null})"), HasSubstr("null"));
  EXPECT_THAT(refusal(R"({"kernel":"gemm.tiled","gpu":"h200-sxm","dtype":"fp33"})"),
              HasSubstr("fp32"));
  EXPECT_THAT(refusal(R"({"kernel":7,"gpu":"h200-sxm"})"), HasSubstr("takes a string"));
  EXPECT_THAT(refusal(R"({"kernel":"gemm.tiled","gpu":"h200-sxm","sm_clock_hz":0})"),
              HasSubstr("give a clock in Hz"));
  EXPECT_THAT(refusal(R"({"kernel":"gemm.tiled","gpu":"h200-sxm","worked_s":-1})"),
              HasSubstr("at least 0"));
  EXPECT_THAT(refusal(R"({"kernel":"gemm.tiled","gpu":"h200-sxm","worked_s":"long"})"),
              HasSubstr("'worked_s' takes seconds"));
  EXPECT_THAT(refusal(R"({"kernel":"gemm.tiled","gpu":"h200-sxm","m":true})"),
              HasSubstr("'m' takes a whole number"));
  EXPECT_THAT(refusal("\xff\xfe"), HasSubstr("JSON"));
}

TEST(Batch, TrueAndFalseStandForYesAndNo) {
  const auto asked = [](const std::string& causal) {
    Batch batch({});
    return answer(batch,
                  R"({"kernel":"attention.flash2","gpu":"h200-sxm","dtype":"bf16","heads":16,)"
                  R"("seq_q":1024,"causal":)" +
                      causal + "}");
  };
  EXPECT_EQ(asked("true"), asked("\"yes\""));
  EXPECT_EQ(asked("false"), asked("\"no\""));
  EXPECT_NE(asked("true"), asked("false"));
  EXPECT_THAT(refusal(R"({"kernel":"attention.flash2","gpu":"h200-sxm","pass":true})"),
              HasSubstr("takes a string: forward"));
  EXPECT_THAT(refusal(R"({"kernel":"gemm.tiled","gpu":true})"), HasSubstr("takes a string"));
  EXPECT_THAT(refusal("true"), HasSubstr("object is expected"));
}

TEST(Batch, ANulIsNoEndOfTheText) {
  EXPECT_THAT(refusal(std::string(kGood) + std::string("\0{", 2)), HasSubstr("NUL"));
  EXPECT_THAT(refusal(std::string("\0", 1)), HasSubstr("NUL"));
}

TEST(Batch, DeepAndLongLinesAreRefused) {
  EXPECT_THAT(refusal(std::string(60000, '[')), HasSubstr("object is expected"));
  EXPECT_THAT(refusal(R"({"kernel":)" + std::string(60000, '[')), HasSubstr("an array"));
  EXPECT_THAT(refusal(R"({"kernel":)" + std::string(60000, '{')), HasSubstr("an object"));
  EXPECT_THAT(refusal(std::string(Query::kLongest + 1, ' ')), HasSubstr("a query of over"));
}

TEST(Batch, ALineSetsValuesOfTheSpecification) {
  Batch batch({});
  const auto asked = [&](const std::string& set) {
    return answer(batch,
                  R"({"set":)" + set + R"(,"kernel":"stream.copy","gpu":"h200-sxm","n":1e8})");
  };
  const json whole = asked("{}");
  const json fewer = asked(R"({"sm_count":16,"dram_bandwidth_bytes_per_s":4.8e12})");
  EXPECT_GT(fewer.at("time").at("expected_s"), 2 * whole.at("time").at("expected_s").get<double>());
  EXPECT_EQ(asked(R"({"sm_count":132})").at("time"), whole.at("time"));
  BatchDefaults defaults;
  defaults.device.overrides = {{"sm_count", "16"}};
  Batch same(defaults);
  EXPECT_EQ(answer(same, R"({"kernel":"stream.copy","gpu":"h200-sxm","n":1e8})"), fewer);
  // More devices than a batch keeps.
  for (int sms = 1; sms < 100; ++sms) {
    EXPECT_FALSE(asked(R"({"sm_count":)" + std::to_string(sms) + "}").contains("error")) << sms;
  }
}

TEST(Batch, RefusesWhatNoSpecificationHas) {
  const auto refused = [](const std::string& set) {
    return refusal(R"({"kernel":"stream.copy","gpu":"h200-sxm","n":9,"set":)" + set + "}");
  };
  EXPECT_THAT(refused(R"({"sm_cont":144})"), HasSubstr("sm_count"));
  EXPECT_THAT(refused(R"({"sm_count":"16"})"), HasSubstr("integer"));
  EXPECT_THAT(refused(R"({"sm_count":{}})"), HasSubstr("an object"));
  EXPECT_THAT(refused(R"({"sm_count":[1]})"), HasSubstr("an array"));
  EXPECT_THAT(refused(R"({"sm_count":1,"sm_count":2})"), HasSubstr("given twice"));
  EXPECT_THAT(refused(R"({"sm_count":1},"set":{})"), HasSubstr("given twice"));
  EXPECT_THAT(refused("5"), HasSubstr("takes an object"));
  EXPECT_THAT(refusal(R"({"kernel":"stream.copy","gpu":"h200-sxm","n":{"set":9}})"),
              HasSubstr("'n' is an object"));
}

// A model's config.json is the one file that a line opens.
TEST(Batch, AModelMayBeAPath) {
  Batch batch({});
  const auto asked = [&](const std::string& model) {
    return answer(batch, R"({"model":")" + model +
                             R"(","gpu":"h100-sxm5","phase":"prefill","batch":1,"seq":64})");
  };
  const json by_name = asked("gpt2-xl");
  ASSERT_TRUE(by_name.contains("time")) << by_name;
  EXPECT_EQ(asked(ROOFCAST_ARCHITECTURES "/gpt2-xl.json").at("time"), by_name.at("time"));
  EXPECT_THAT(asked("./nosuch.json").at("error").at("message").get<std::string>(),
              HasSubstr("cannot be read"));
  EXPECT_THAT(asked("/dev/zero").at("error").at("message").get<std::string>(),
              HasSubstr("no regular file"));
}

TEST(Batch, ALineOpensNoSpecificationAndNoKernelFile) {
  EXPECT_THAT(refusal(R"({"kernel":"./swiglu.json","gpu":"h200-sxm","tokens":1})"),
              HasSubstr("no kernel is named"));
  EXPECT_THAT(refusal(R"({"kernel":"gemm.tiled","gpu":"/etc/passwd","m":1,"n":1,"k":1})"),
              HasSubstr("no GPU is named"));
}

TEST(Batch, AnErrorLeavesNothingOfItsAnswer) {
  Batch batch({});
  fmt::memory_buffer out;
  EXPECT_TRUE(batch.answer(kGood, 1, out));
  const std::size_t before = out.size();
  EXPECT_FALSE(batch.answer(R"({"kernel":"gemm.tiled"})", 2, out));
  EXPECT_EQ(std::string_view(out.data() + before, 9), R"({"error":)");
}

/// The answers to `lines` on `jobs` threads, and the exit code.
std::pair<std::string, ExitCode> answers_on(std::size_t jobs, const std::string& lines) {
  const std::string folder = ::testing::TempDir();
  const std::string questions = folder + "batch_questions.jsonl";
  const std::string answers = folder + "batch_answers.jsonl";
  std::ofstream(questions) << lines;
  const ExitCode code = answer_lines(questions, answers, jobs, [] { return Batch({}); });
  std::ifstream in(answers);
  return {{std::istreambuf_iterator<char>(in), {}}, code};
}

TEST(Batch, ThreadsAnswerInTheOrderOfTheLines) {
  std::string lines;
  for (int m = 1; m <= 3000; ++m) {
    lines += m % 100 == 0 ? "{}\n"
                          : fmt::format(
                                "{{\"kernel\":\"gemm.tiled\",\"gpu\":\"h200-sxm\","
                                "\"m\":{},\"n\":64,\"k\":64}}\n",
                                m);
  }
  const auto [alone, code] = answers_on(1, lines);
  EXPECT_EQ(code, ExitCode::bad_input);
  const auto [together, code_together] = answers_on(4, lines);
  EXPECT_EQ(code_together, ExitCode::bad_input);
  EXPECT_EQ(alone, together);
  EXPECT_EQ(std::count(alone.begin(), alone.end(), '\n'), 3000);
  EXPECT_THAT(alone, HasSubstr("\"line\":2900}"));
}

}  // namespace
}  // namespace roofcast::cli
