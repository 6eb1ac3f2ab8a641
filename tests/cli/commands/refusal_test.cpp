// What is refused: the same rows and exit code in every format, and nothing passes silently.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>

#include "cli/output/utf8.hpp"
#include "tests/cli/run_program.hpp"
#include "validation/runs/run.hpp"

namespace roofcast::cli {
namespace {

using nlohmann::json;
using testing::contents;
using testing::expect_refusal;
using testing::Folder;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::kBadInput;
using testing::kUsage;
using testing::lines_of;
using ::testing::Not;
using testing::Outcome;
using testing::run_program;

// A row of 500,000 elements fits the registers of no block.
constexpr const char* kShape = " --rows 512 --cols 500000 --gpu h200-sxm";

struct Formats {
  Outcome table;
  Outcome json;
  Outcome csv;

  explicit Formats(const std::string& words)
      : table(run_program(words)),
        json(run_program(words + " --format json")),
        csv(run_program(words + " --format csv")) {}
  void expect_code(int code) const {
    EXPECT_EQ(table.code, code) << table.err;
    EXPECT_EQ(json.code, code) << json.err;
    EXPECT_EQ(csv.code, code) << csv.err;
  }
  void expect_in_text(const std::string& part) const {
    EXPECT_THAT(table.out, HasSubstr(part));
    EXPECT_THAT(csv.out, HasSubstr(part));
  }
};

TEST(Refusals, TheFileOfQueriesIsNoBatch) {
  expect_refusal("predict --batch queries.jsonl", kUsage, "--queries FILE");
  expect_refusal("predict --batch=queries.jsonl", kUsage, "--queries FILE");
  expect_refusal("advise --batch shapes.jsonl --gpu h200-sxm", kUsage, "--queries FILE");
}

TEST(Refusals, NoSecondGpuIsDropped) {
  const std::string one = "names 2 devices (p100, b200), and this is about one";
  expect_refusal("predict --queries - --gpu p100 --gpu b200", kUsage, one);
  expect_refusal("advise --queries - --gpu p100,b200", kUsage, one);
  expect_refusal("validate --suite default --list --gpu p100,b200", kUsage, one);
  const Outcome advice = run_program(
      "advise gemm --m 512 --n 512 --k 500 --dtype bf16 --gpu h100-sxm5,a100-sxm4-80gb");
  EXPECT_THAT(advice.out, HasSubstr("on h100-sxm5"));
  EXPECT_THAT(advice.out, HasSubstr("on a100-sxm4-80gb"));
}

TEST(Refusals, NothingIsNamedTwiceInAList) {
  const std::string copy = " stream.copy --n 4096 ";
  const std::string gpu = "--gpu h100-sxm5 ";
  const std::string twice = "names 'h100-sxm5' twice";
  expect_refusal("predict" + copy + "--gpu h100-sxm5,h100-sxm5", kUsage, "--gpu " + twice);
  expect_refusal("sweep" + copy + gpu + "--gpu H100-SXM5", kUsage, "--gpu " + twice);
  expect_refusal("roofline --gpu h100-sxm5,H100-sxm5 -o r.html", kUsage, "--gpu " + twice);
  expect_refusal("model gpt2 --train --gpu h100-sxm5,h100-sxm5", kUsage, "--gpu " + twice);
  expect_refusal("gpus h100-sxm5 p100 h100-sxm5", kUsage, "the command " + twice);
  expect_refusal("predict stream.copy" + copy + gpu, kUsage, "names 'stream.copy' twice");
  expect_refusal("sweep stream.copy" + copy + gpu, kUsage, "names 'stream.copy' twice");
  expect_refusal("roofline --n 8 --kernel stream.copy --kernel=stream.copy -o r.html " + gpu,
                 kUsage, "--kernel names 'stream.copy' twice");
  expect_refusal("sweep" + copy + gpu + "--dtype fp32,fp16,fp32", kUsage, "'fp32' twice");
  expect_refusal(
      "solve gemm.tiled --m 64 --n 64 --k 64 --minimize time --vary tile_m,tile_m " + gpu, kUsage,
      "--vary names 'tile_m' twice");
}

TEST(Refusals, NothingIsSetTwice) {
  const std::string copy = "predict stream.copy --n 4096 --gpu h100-sxm5 ";
  expect_refusal(copy + "--set sm_count=5 --set sm_count=6", kUsage,
                 "--set names 'sm_count' twice");
  expect_refusal(copy + "--price h100-sxm5=5 --price H100-SXM5=6", kUsage,
                 "--price names 'h100-sxm5' twice");
  expect_refusal(
      "solve stream.copy --n 4096 --gpu h100-sxm5 --set sm_count=5 --find sm_count=1:9 --until "
      "'time<=1s'",
      kUsage, "leave out --set sm_count");
  const Folder folder;
  const std::string table = folder.write("t.csv", "dtype,a,b,time_us\nfp32,4096,5,2\n");
  expect_refusal(
      "compare --gpu h100-sxm5 --kernel stream.copy --column n=a --column n=b --table " + table,
      kUsage, "--column names 'n' twice");
  const std::string prices = folder.write("prices.json", R"({"h100-sxm5": 4})");
  EXPECT_EQ(run_program(copy + "--price h100-sxm5=5 --price " + prices).code, 0);
}

// The TPU has no forecast of a step; its memory is still told.
TEST(Refusals, AStepWithoutAForecastIsNoSuccess) {
  const std::string asked = "model gpt2 --train --gpu tpu-v4,h100-sxm5 ";
  const Outcome text = run_program(asked);
  EXPECT_EQ(text.code, kBadInput);
  EXPECT_THAT(text.err, HasSubstr("1 point has no forecast"));
  EXPECT_THAT(text.out, HasSubstr("on 1 × tpu-v4"));
  const auto lines = lines_of(run_program(asked + "--format json").out);
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_TRUE(json::parse(lines[0]).at("time").is_null());
  const Folder folder;
  const Outcome chart = run_program(asked + "--plot rate -o " + folder.file("rate.json"));
  EXPECT_EQ(chart.code, kBadInput);
  EXPECT_THAT(chart.err, HasSubstr("no point for tpu-v4"));
  EXPECT_THAT(contents(folder.file("rate.json")), HasSubstr("h100-sxm5"));
}

TEST(Refusals, OneOfSeveralKernelsIsARowWithItsReason) {
  const Formats formats(std::string("predict softmax.registers softmax.online") + kShape);
  formats.expect_code(kBadInput);
  const auto objects = lines_of(formats.json.out);
  ASSERT_EQ(objects.size(), 2U);
  EXPECT_TRUE(json::parse(objects[1]).contains("limit"));
  const json refused = json::parse(objects[0]);
  EXPECT_EQ(refused.at("kernel"), "softmax.registers");
  formats.expect_in_text(refused.at("error").at("message"));
  EXPECT_EQ(lines_of(formats.table.out).size(), 3U) << "a title and two rows";
  EXPECT_EQ(lines_of(formats.csv.out).size(), 3U);
  EXPECT_THAT(formats.table.err, HasSubstr("1 point has no forecast"));
}

TEST(Refusals, OneKernelAloneIsAnError) {
  const Formats formats(std::string("predict softmax.registers") + kShape);
  formats.expect_code(kBadInput);
  EXPECT_THAT(formats.table.out + formats.json.out + formats.csv.out, IsEmpty());
  EXPECT_EQ(formats.table.err, formats.json.err);
  EXPECT_EQ(formats.table.err, formats.csv.err);
}

TEST(Refusals, AFamilyShowsTheSameVariantsInEveryFormat) {
  const Formats formats(std::string("predict softmax") + kShape);
  formats.expect_code(0);
  const json family = json::parse(formats.json.out);
  EXPECT_EQ(family.at("kernel"), "softmax");
  EXPECT_FALSE(family.contains("time")) << "a family has a limit alone";
  const json& variants = family.at("variants");
  EXPECT_GT(variants.size(), 2U);
  EXPECT_EQ(lines_of(formats.csv.out).size(), 2 + variants.size());
  std::size_t refused = 0;
  for (const json& variant : variants) {
    formats.expect_in_text(variant.at("kernel"));
    if (!variant.contains("error")) continue;
    formats.expect_in_text(variant.at("error").at("message"));
    ++refused;
  }
  EXPECT_GE(refused, 1U);
}

TEST(Refusals, AFamilyOfWhichNothingHasAForecastIsAnError) {
  for (const char* words : {"predict access --gpu h200-sxm",
                            "predict gemm --m 64 --n 64 --k 64 --dtype bf16 --gpu p100"}) {
    const Formats formats(words);
    formats.expect_code(kBadInput);
    EXPECT_THAT(formats.table.out + formats.json.out + formats.csv.out, IsEmpty()) << words;
  }
}

TEST(Refusals, ASweepHasTheSameRowsAsCsvAndJson) {
  const std::string words =
      "sweep softmax.registers --rows 512 --cols 1024,500000 --gpu h200-sxm --format ";
  const Outcome csv = run_program(words + "csv");
  const Outcome array = run_program(words + "json");
  EXPECT_EQ(csv.code, kBadInput);
  EXPECT_EQ(array.code, kBadInput);
  EXPECT_EQ(csv.err, array.err);
  const json points = json::parse(array.out);
  ASSERT_EQ(points.size(), 2U);
  EXPECT_EQ(lines_of(csv.out).size(), 3U);
  EXPECT_THAT(csv.out, HasSubstr(points[1].at("error").at("message").get<std::string>()));
}

TEST(Refusals, AComparisonListsWhatHasNoForecastInEveryFormat) {
  const Folder folder;
  const std::string file = folder.write("t.csv",
                                        "gpu,dtype,rows,cols,time_us\n"
                                        "h200-sxm,fp32,512,1024,20\n"
                                        "h200-sxm,fp32,512,500000,900\n");
  const Formats formats("compare --table " + file + " --kernel softmax.registers");
  EXPECT_EQ(formats.table.code, formats.json.code);
  EXPECT_EQ(formats.table.code, formats.csv.code);
  const json comparison = json::parse(formats.json.out).at("comparisons").at(0);
  EXPECT_EQ(comparison.at("rows").size(), 1U);
  ASSERT_EQ(comparison.at("failures").size(), 1U);
  formats.expect_in_text(comparison.at("failures")[0].at("reason"));
  EXPECT_EQ(lines_of(formats.csv.out).size(), 3U);
}

TEST(Refusals, NothingIsIgnored) {
  const Folder folder;
  const std::string file = folder.write("t.csv", "gpu,dtype,n,time_us\nh200-sxm,fp32,1000,2\n");
  const std::string table = "compare --table " + file + " --kernel stream.copy ";
  expect_refusal(table + "--column zzz=n", kUsage, "'zzz'");
  expect_refusal(table + "--column thread=n", kUsage, "Did you mean 'threads'?");
  expect_refusal("predict stream.copy --n 1 --gpu h200-sxm --overlay ''", kUsage, "--overlay is");
  expect_refusal("predict stream.copy --n 1 --gpu ''", kUsage, "--gpu is empty");
}

TEST(Refusals, AxesThatNameNothingOrTooMuch) {
  const std::string sweep = "sweep gemm.tiled --m 1 --k 1 --gpu h200-sxm --n ";
  expect_refusal(sweep + "=", kUsage, "names no parameter");
  expect_refusal(sweep + "=10/", kUsage, "names no parameter");
  expect_refusal("sweep stream.copy --n 1:100000:1 --gpu h200-sxm --plot time", kBadInput,
                 "at most 20000");
}

TEST(Refusals, WholeNumbersInEveryForm) {
  EXPECT_EQ(run_program("predict stream.copy --n 1e8 --gpu h200-sxm").code, 0)
      << "as `calibrate --help` writes it";
  EXPECT_EQ(run_program("predict stream.copy --n 1e8 --gpu h200-sxm --set sm_count=1.32e2").out,
            run_program("predict stream.copy --n 100000000 --gpu h200-sxm --set sm_count=132").out);
  expect_refusal("predict stream.copy --n true --gpu h200-sxm", kUsage, "whole number");
  expect_refusal("predict stream.copy --n 1 --gpu h200-sxm --set sm_count=true", kBadInput,
                 "integer");
}

TEST(Refusals, EscapesInNamesAreShown) {
  const Outcome typo = run_program("predict \"$(printf 'gemm\\033[2J')\"");
  EXPECT_EQ(typo.code, kUsage);
  EXPECT_THAT(typo.err, HasSubstr("gemm\\x1b[2J"));
  EXPECT_THAT(typo.err, Not(HasSubstr("\x1b")));
  validation::Run run;
  run.suite = "test";
  run.date = "2025-01-02T03:04:05Z\x1b[2J";
  run.device.gpu = "h200-sxm";
  run.device.device = "NVIDIA\x1b]0;H200\x07";
  validation::Case item;
  item.kernel = "stream.copy";
  item.problem.values = {1 << 28, 256, 16, 4};
  item.timing.samples_s = {600e-6};
  run.cases.push_back(item);
  run.failures.push_back({"stream.copy", item.problem, "out of\x1b[31m memory"});
  const Folder folder;
  const std::string file = folder.write("run.json", validation::to_json(run));
  for (const char* format : {"table", "json", "csv"}) {
    const Outcome outcome = run_program("compare " + file + " --format " + format);
    EXPECT_THAT(outcome.out + outcome.err, Not(HasSubstr("\x1b"))) << format;
    EXPECT_THAT(outcome.out + outcome.err, HasSubstr("1b")) << format;
  }
}

TEST(Tables, AreAsWideAsColumnsSays) {
  constexpr std::size_t kColumns = 90;
  const std::string words = std::string("predict softmax") + kShape;
  const Outcome narrow = run_program(words, "", "COLUMNS=90");
  for (const std::string& line : lines_of(narrow.out)) {
    EXPECT_LE(display_width(line), kColumns) << line;
  }
  EXPECT_GT(lines_of(narrow.out).size(), lines_of(run_program(words, "", "COLUMNS=").out).size());
}

TEST(Batch, ALongLineCostsItsOwnAnswerAlone) {
  const std::string good = R"({"kernel":"stream.copy","gpu":"h200-sxm","n":1024})";
  const Outcome outcome =
      run_program("predict --queries -", good + "\n" + std::string(20 << 20, '[') + "\n" + good);
  EXPECT_EQ(outcome.code, kBadInput);
  const auto lines = lines_of(outcome.out);
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_EQ(lines[0], lines[2]);
  EXPECT_EQ(json::parse(lines[1]).at("line"), 2);
}

}  // namespace
}  // namespace roofcast::cli
