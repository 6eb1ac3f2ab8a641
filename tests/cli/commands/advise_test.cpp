// Shapes near a matrix product's.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "tests/cli/run_program.hpp"

namespace roofcast::cli {
namespace {

using nlohmann::json;
using testing::expect_refusal;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::kBadInput;
using testing::kUsage;
using testing::lines_of;
using ::testing::Not;
using testing::Outcome;
using testing::run_program;
using ::testing::StartsWith;

const std::string kVocabulary = "advise gemm --m 4096 --n 50257 --k 768 --dtype bf16 --gpu ";

TEST(Advise, SaysTheSameInEveryFormat) {
  const Outcome text = run_program(kVocabulary + "h100-sxm5");
  EXPECT_EQ(text.code, 0) << text.err;
  EXPECT_THAT(text.out, StartsWith("gemm.library  bf16  on h100-sxm5\n"));
  const json object = json::parse(run_program(kVocabulary + "h100-sxm5 --format json").out);
  EXPECT_EQ(object.at("schema_version"), 1);
  EXPECT_EQ(object.at("asked").at("forecast").at("problem").at("n"), 50257);
  const json& shapes = object.at("shapes");
  ASSERT_FALSE(shapes.empty());
  const std::string csv = run_program(kVocabulary + "h100-sxm5 --format csv").out;
  const auto rows = lines_of(csv);
  EXPECT_THAT(rows.front(), StartsWith("shape,time_change,rate_change,weight_bytes,"));
  EXPECT_THAT(rows.at(1), StartsWith("asked,"));
  ASSERT_EQ(rows.size(), 2 + shapes.size());
  const auto commas = [](const std::string& row) {
    bool quoted = false;
    return std::count_if(row.begin(), row.end(), [&quoted](char c) {
      if (c == '"') quoted = !quoted;
      return c == ',' && !quoted;
    });
  };
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    const std::string n = std::to_string(shapes[i].at("forecast").at("problem").at("n").get<int>());
    const std::string kind = shapes[i].at("kind");
    EXPECT_THAT(text.out, HasSubstr(n));
    EXPECT_THAT(text.out, HasSubstr(shapes[i].at("why").get<std::string>()));
    EXPECT_THAT(rows[2 + i], StartsWith(kind + ","));
    EXPECT_THAT(rows[2 + i], HasSubstr("," + n + ","));
    EXPECT_EQ(commas(rows[2 + i]), commas(rows.front())) << rows[2 + i];
  }
}

TEST(Advise, AShapeIsForecastAsPredictDoes) {
  const json object = json::parse(run_program(kVocabulary + "h200-sxm --format json").out);
  const json& best = object.at("shapes").at(0).at("forecast");
  const json& problem = best.at("problem");
  const Outcome again = run_program(
      "predict gemm.library --format json --dtype bf16 --gpu h200-sxm --m " +
      problem.at("m").dump() + " --n " + problem.at("n").dump() + " --k " + problem.at("k").dump());
  EXPECT_EQ(json::parse(again.out), best);
}

TEST(Advise, SaysWhereThereIsNone) {
  const Outcome outcome =
      run_program("advise gemm --m 8192 --n 8192 --k 8192 --dtype bf16 --gpu h200-sxm --vary k");
  EXPECT_EQ(outcome.code, 0);
  EXPECT_THAT(outcome.out, HasSubstr("no shape within 5.0% of"));
}

TEST(Advise, AsksOtherKernelsAndWithinOtherBounds) {
  const std::string tiled = "advise gemm.tiled --m 4097 --n 4097 --k 4096 --gpu h200-sxm";
  const json object = json::parse(run_program(tiled + " --format json").out);
  EXPECT_EQ(object.at("asked").at("forecast").at("kernel"), "gemm.tiled");
  for (const char* spelled : {"gemm --kernel gemm.tiled", "gemm --kernel=gemm.tiled"}) {
    const std::string words = std::string("advise ") + spelled + tiled.substr(17);
    EXPECT_EQ(json::parse(run_program(words + " --format json").out), object) << words;
  }
  const auto kinds = [](const std::string& words) {
    std::vector<std::string> found;
    const json advice = json::parse(run_program(words + " --format json").out);
    for (const json& one : advice.at("shapes")) {
      found.push_back(one.at("kind"));
    }
    return found;
  };
  EXPECT_THAT(kinds(kVocabulary + "h200-sxm"), ::testing::Contains("smaller"));
  EXPECT_THAT(kinds(kVocabulary + "h200-sxm --pad-only"), Not(::testing::Contains("smaller")));
  EXPECT_THAT(kinds(kVocabulary + "h200-sxm --vary m"), Not(::testing::Contains("faster")));
  const std::string square = "advise gemm --m 1680 --n 1680 --k 1680 --dtype bf16 --gpu h200-sxm";
  EXPECT_NE(run_program(square + " --within 20%").out, run_program(square + " --within 1%").out);
  EXPECT_EQ(run_program(square + " --within 20%").out, run_program(square + " --within 0.2").out);
}

TEST(Advise, AnswersALineForALine) {
  const std::string lines =
      "{\"m\":4096,\"n\":50257,\"k\":768}\n"
      "{\"m\":0,\"n\":1,\"k\":1}\n"
      "{\"kernel\":\"gemm.tiled\",\"m\":512,\"n\":512,\"k\":512,\"dtype\":\"fp32\"}\n"
      "{\"kernel\":\"stream.copies\",\"n\":512}\n";
  const std::string words = "advise --queries - --gpu h200-sxm --dtype bf16";
  const Outcome outcome = run_program(words, lines);
  EXPECT_EQ(outcome.code, kBadInput);
  const auto answers = lines_of(outcome.out);
  ASSERT_EQ(answers.size(), 4U);
  EXPECT_EQ(json::parse(answers[0]),
            json::parse(run_program(kVocabulary + "h200-sxm --format json").out));
  EXPECT_EQ(json::parse(answers[1]).at("line"), 2);
  EXPECT_EQ(json::parse(answers[2]).at("asked").at("forecast").at("kernel"), "gemm.tiled");
  EXPECT_EQ(json::parse(answers[3]).at("line"), 4);
  EXPECT_EQ(run_program(words + " --jobs 2", lines).out, outcome.out);
  const Outcome tiled = run_program("advise --queries - --gpu h200-sxm --kernel gemm.tiled", lines);
  EXPECT_EQ(json::parse(lines_of(tiled.out).at(0)).at("asked").at("forecast").at("kernel"),
            "gemm.tiled");
}

TEST(Advise, ADeviceWithoutAnAnswerLeavesTheOthersTheirs) {
  for (const char* format : {"table", "json", "csv"}) {
    const Outcome outcome = run_program(kVocabulary + "k80,h200-sxm --format " + format);
    EXPECT_EQ(outcome.code, kBadInput);
    EXPECT_THAT(outcome.out, HasSubstr("no tensor cores")) << format;
    EXPECT_THAT(outcome.out, HasSubstr("rows aligned to 16 B")) << format;
  }
}

TEST(Advise, RefusalsSayWhatToDo) {
  expect_refusal("advise", kUsage, "which kernel");
  expect_refusal("advise gemm gemm.tiled --m 1", kUsage, "one kernel");
  expect_refusal("advise gemm --m 1 --k 1 --gpu h200-sxm", kUsage, "--n");
  expect_refusal("advise gemm --m 1 --n 1 --k 1", kUsage, "--gpu");
  expect_refusal("advise gemm.tild --m 1", kUsage, "gemm.tiled");
  expect_refusal("advise gemm --kernel gemm.tild --m 1", kUsage, "gemm.tiled");
  expect_refusal("advise gemm.tiled --kernel gemm.naive --m 1", kUsage, "--kernel goes with");
  expect_refusal("advise gemm --kernel", kUsage, "kernel");
  expect_refusal(kVocabulary + "k80", kBadInput, "no tensor cores");
  expect_refusal(kVocabulary + "h200-sxm --within 80%", kUsage, "0% to 50%");
  expect_refusal(kVocabulary + "h200-sxm --within nan", kUsage, "--within");
  expect_refusal(kVocabulary + "h200-sxm --within %", kUsage, "5% or 0.05");
  expect_refusal(kVocabulary + "h200-sxm --vary m,q", kUsage, "--vary");
  expect_refusal(kVocabulary + "h200-sxm --jobs 2", kUsage, "--jobs");
  expect_refusal("advise --jobs 2", kUsage, "--queries");
  expect_refusal("advise --queries - --format csv --gpu h200-sxm", kUsage, "--format");
  expect_refusal("advise --queries missing.jsonl", kBadInput, "missing.jsonl");
}

TEST(AdviseLinear, AnswersForTheThreeProductsOfALayer) {
  const Outcome outcome = run_program(
      "advise linear --tokens 8192 --in 768 --out 50257 --dtype bf16 --gpu h100-sxm5 --format "
      "json");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const auto answer = nlohmann::json::parse(outcome.out);
  const auto& products = answer.at("asked").at("products");
  ASSERT_EQ(products.size(), 3U);
  double sum = 0;
  for (const auto& product : products) sum += product.at("expected_s").get<double>();
  EXPECT_DOUBLE_EQ(sum, answer.at("asked").at("expected_s").get<double>());
  EXPECT_EQ(answer.at("padded").front().at("out").get<int>() % 8, 0);
}

TEST(AdviseLinear, SaysWhatIsMissing) {
  testing::expect_refusal("advise linear --tokens 8192 --in 768 --gpu h100-sxm5", testing::kUsage,
                          "--out");
  testing::expect_refusal("advise linear --tokens 0 --in 768 --out 8 --gpu h100-sxm5",
                          testing::kBadInput, "--tokens takes 1");
}

TEST(Advise, FindsTheFastestSettings) {
  const Outcome outcome = run_program(
      "advise gemm.tiled --m 1000 --n 1000 --k 1000 --gpu a100-sxm4-80gb --format json");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const json answer = json::parse(outcome.out);
  const json& settings = answer.at("settings");
  EXPECT_EQ(settings.at("asked").at("problem").at("tile_m"), 32);
  ASSERT_FALSE(settings.at("faster").empty());
  // Advice on shapes starts from the fastest settings.
  EXPECT_EQ(answer.at("asked").at("forecast"), settings.at("faster").at(0));
  const Outcome text =
      run_program("advise gemm.tiled --m 1000 --n 1000 --k 1000 --gpu a100-sxm4-80gb");
  EXPECT_THAT(text.out, HasSubstr("settings were forecast"));
  EXPECT_THAT(text.out, HasSubstr("tile_k"));
}

TEST(Advise, IsForEveryFamily) {
  const json answer = json::parse(
      run_program("advise transpose --rows 4096 --cols 4095 --gpu h100-sxm5 --format json").out);
  EXPECT_EQ(answer.at("asked").at("forecast").at("kernel"), "transpose.padded");
  EXPECT_EQ(answer.at("variants").size(), 4U);
  EXPECT_EQ(answer.at("shapes").at(0).at("forecast").at("problem").at("cols"), 4096);
  for (const char* words :
       {"softmax --rows 4096 --cols 4095 --dtype bf16", "norm.layernorm --rows 4096 --cols 4095",
        "attention.decode --batch 8 --heads 32 --kv_heads 8 --seq_q 1 --seq_kv 4095 --dtype bf16",
        "elementwise.expr.fused --n 1000001 --expression 2*x", "reduce.row --rows 9 --cols 99",
        "access.strided --n 1048576 --stride 7"}) {
    const Outcome outcome = run_program(std::string("advise ") + words + " --gpu h100-sxm5");
    EXPECT_EQ(outcome.code, 0) << words << outcome.err;
    EXPECT_THAT(outcome.out, HasSubstr("shape"));
  }
}

TEST(Advise, VariesWhatItIsTold) {
  const std::string words =
      "advise norm.layernorm --rows 8192 --cols 4097 --dtype bf16 "
      "--gpu h100-sxm5 --format json --vary ";
  EXPECT_TRUE(json::parse(run_program(words + "rows").out).at("shapes").empty());
  EXPECT_FALSE(json::parse(run_program(words + "cols").out).at("shapes").empty());
  expect_refusal(words + "columns", kUsage, "cols");
}

TEST(Advise, TakesAKernelFile) {
  const testing::Folder folder;
  const std::string file = folder.write(
      "mine.json",
      R"({"name":"mine","parameters":{"n":1048576,"t":{"default":1024,"setting":true,"minimum":32,)"
      R"("maximum":1024}},"launch":{"threads":"t","registers":60},)"
      R"("work":{"flops":{"fp32":"2*n"},"read_bytes":"4*n","write_bytes":"4*n"}})");
  const Outcome outcome = run_program("advise " + file + " --gpu h100-sxm5 --format json");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const json answer = json::parse(outcome.out);
  EXPECT_EQ(answer.at("settings").at("forecasts"), 6);  // 32 to 1024
  // A line of a batch may ask for the file's kernel, too.
  const Outcome lines =
      run_program("predict --queries - --gpu h100-sxm5 --kernel-file " + file,
                  "{\"kernel\":\"mine\",\"n\":4096}\n{\"kernel\":\"gemm.tiled\",\"m\":64,\"n\":64,"
                  "\"k\":64}\n");
  EXPECT_EQ(lines.code, 0) << lines.err << lines.out;
  EXPECT_EQ(json::parse(lines_of(lines.out).at(0)).at("kernel"), "mine");
  const Outcome unknown = run_program("predict --queries - --gpu h100-sxm5",
                                      "{\"kernel\":\"" + file + "\",\"n\":4096}\n");
  EXPECT_EQ(unknown.code, kBadInput);  // a line opens no file
}

}  // namespace
}  // namespace roofcast::cli
