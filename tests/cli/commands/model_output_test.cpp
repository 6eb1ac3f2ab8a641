// What `roofcast model` writes beside its answer: the page, charts, a trace; and what its options
// change.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/cli/run_program.hpp"

namespace roofcast::cli {
namespace {

using nlohmann::json;
using testing::contents;
using testing::expect_refusal;
using testing::Folder;
using ::testing::HasSubstr;
using testing::kBadInput;
using testing::kUsage;
using testing::Outcome;
using testing::run_program;

const std::string kTraining = "model gpt2 --train --batch 4 --seq 1024 --gpu h100-sxm5 ";

json answer_of(const std::string& words) {
  const Outcome outcome = run_program(words + " --format json");
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  return json::parse(outcome.out);
}

double number(const json& object, const char* key) {
  return object.at(key).get<double>();
}

double part_s(const json& answer, const std::string& name) {
  for (const json& part : answer.at("parts")) {
    if (part.at("name") == name) return number(part, "time_s");
  }
  return 0;
}

/// The specifications of a page's charts.
std::vector<json> charts_of(const std::string& page) {
  const std::string open = "id=\"charts\">";
  const std::size_t begin = page.find(open);
  if (begin == std::string::npos) return {};
  const std::size_t from = begin + open.size();
  const json data = json::parse(page.substr(from, page.find("</script>", from) - from));
  std::vector<json> charts;
  for (const json& one : data.at("charts")) charts.push_back(one.at("spec"));
  return charts;
}

std::size_t count_of(const std::string& text, const std::string& wanted) {
  std::size_t count = 0;
  for (auto at = text.find(wanted); at != text.npos; at = text.find(wanted, at + 1)) ++count;
  return count;
}

// The bars of the timeline add up to the step, those of memory are its parts.
TEST(ModelOutput, ThePageHoldsTheNumbersOfTheAnswer) {
  const Folder folder;
  const std::string file = folder.file("page.html");
  const Outcome outcome = run_program(kTraining + "-o " + file);
  if (outcome.err.find("ROOFCAST_REPORT_BUNDLE") != std::string::npos) GTEST_SKIP();
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const std::string page = contents(file);
  EXPECT_EQ(page.rfind("<!doctype html>", 0), 0U) << page.substr(0, 40);
  const std::string body = page.substr(0, page.rfind("<script>"));
  for (const char* tag : {"table", "tbody", "section", "main"}) {
    EXPECT_EQ(
        count_of(body, std::string("<") + tag + ">") + count_of(body, std::string("<") + tag + " "),
        count_of(body, std::string("</") + tag + ">"))
        << tag;
  }
  EXPECT_EQ(count_of(page, "<!--page:"), 0U);
  const json answer = answer_of(kTraining);
  const auto charts = charts_of(page);
  ASSERT_EQ(charts.size(), 2U);
  double end = 0, sum = 0;
  for (const json& bar : charts[0].at("datasets").at("bars")) {
    EXPECT_NEAR(number(bar, "start"), end, 1e-12);
    end = number(bar, "end");
    sum += end - number(bar, "start");
  }
  EXPECT_NEAR(sum, number(answer.at("time"), "expected_s"), 1e-9);
  std::map<std::string, double> parts;
  for (const json& bar : charts[1].at("datasets").at("bars")) {
    parts[bar.at("part").get<std::string>() + "_bytes"] = number(bar, "to") - number(bar, "from");
  }
  for (const auto& [key, bytes] : parts) {
    EXPECT_NEAR(bytes, number(answer.at("memory"), key.c_str()), 1) << key;
  }
  EXPECT_GE(parts.size(), 4U);
}

TEST(ModelOutput, ChartsOverBatchesHoldAPointForEach) {
  const Folder folder;
  const std::string file = folder.file("rate.json");
  const std::string asked =
      "model llama-3.1-8b --decode --batch 1,4,16 --context 4096 --gpu h200-sxm ";
  ASSERT_EQ(run_program(asked + "--plot rate -o " + file).code, 0);
  const std::string text = contents(file);
  const json chart = json::parse(text);
  for (const char* batch : {"1", "4", "16"}) {
    const json answer = answer_of("model llama-3.1-8b --decode --batch " + std::string(batch) +
                                  " --context 4096 --gpu h200-sxm");
    bool found = false;
    for (const auto& [name, rows] : chart.at("datasets").items()) {
      for (const json& row : rows) {
        for (const auto& [key, value] : row.items()) {
          found =
              found || (value.is_number() &&
                        std::abs(value.get<double>() / number(answer, "tokens_per_s") - 1) < 1e-9);
        }
      }
    }
    EXPECT_TRUE(found) << batch;
  }
  expect_refusal(asked + "--plot memry -o " + file, kUsage, "memory");
}

// Slices of the operations follow one another and add up to the step; each lies inside its layer.
TEST(ModelOutput, TheTraceIsOneStepForPerfetto) {
  const Folder folder;
  const std::string file = folder.file("step.trace.json");
  ASSERT_EQ(run_program(kTraining + "--trace " + file).code, 0);
  const json trace = json::parse(contents(file));
  double end = 0, sum = 0, layers = 0;
  std::size_t slices = 0;
  for (const json& event : trace.at("traceEvents")) {
    if (event.at("ph") != "X") continue;
    if (event.at("tid") == 1) {
      layers += number(event, "dur");
      continue;
    }
    EXPECT_NEAR(number(event, "ts"), end, 1e-6);
    end = number(event, "ts") + number(event, "dur");
    sum += number(event, "dur");
    EXPECT_FALSE(event.at("args").at("kernel").get<std::string>().empty());
    ++slices;
  }
  const double expected_us = 1e6 * number(answer_of(kTraining).at("time"), "expected_s");
  EXPECT_NEAR(sum, expected_us, 1e-6 * expected_us);
  EXPECT_NEAR(layers, expected_us, 1e-6 * expected_us);
  EXPECT_GT(slices, 12U * 10);
  expect_refusal("model gpt2 --train --batch 1,2 --gpu h100-sxm5 --trace " + file, kUsage,
                 "one step");
  expect_refusal("model gpt2 --train --gpu h100-sxm5 --trace -", kUsage, "standard output");
  const std::string both = folder.file("both.json");
  expect_refusal("model gpt2 --train --gpu h100-sxm5 -o " + both + " --trace " + both, kUsage,
                 "name another file");
}

// Transfers of weights and gradients have a row of their own; some run beside operations.
TEST(ModelOutput, TheTraceShowsTransfersBesideOperations) {
  const Folder folder;
  const std::string file = folder.file("step.trace.json");
  ASSERT_EQ(run_program(kTraining + "--fsdp 8 --framework ideal --trace " + file).code, 0);
  const json trace = json::parse(contents(file));
  std::map<std::int64_t, std::vector<std::pair<double, double>>> rows;
  for (const json& event : trace.at("traceEvents")) {
    if (event.at("ph") != "X") continue;
    const double start = number(event, "ts");
    rows[event.at("tid").get<std::int64_t>()].emplace_back(start, start + number(event, "dur"));
  }
  EXPECT_EQ(rows.size(), 3U);
  EXPECT_EQ(rows[3].size(), 3U * 12);  // gathered twice and scattered, each layer
  int beside = 0;
  for (const auto& [start, end] : rows[3]) {
    for (const auto& [from, to] : rows[2]) beside += from < end && start < to ? 1 : 0;
  }
  EXPECT_GT(beside, 12);
}

TEST(ModelOutput, SaysWhatLaunchesHideAndWhatItCosts) {
  const json answer = answer_of(kTraining + "--fsdp 8");
  const json& sent = answer.at("transfers");
  EXPECT_GT(number(sent, "hidden_s"), 0);
  EXPECT_GT(number(sent, "slowed_s"), 0);
  EXPECT_NEAR(number(sent, "hidden_s") + number(sent, "exposed_s"), number(sent, "alone_s"), 1e-12);
  EXPECT_NEAR(part_s(answer, "gradients and weights between GPUs"), number(sent, "exposed_s"),
              1e-12);
  EXPECT_THAT(run_program(kTraining + "--fsdp 8").out, HasSubstr("exposed; launches beside"));
  EXPECT_EQ(number(answer_of(kTraining).at("transfers"), "alone_s"), 0);
  const json late = answer_of(kTraining + "--fsdp 8 --prefetch post");
  EXPECT_GT(number(late.at("transfers"), "exposed_s"), number(sent, "exposed_s"));
  expect_refusal(kTraining + "--prefetch post", kBadInput, "'prefetch'");
}

// Selective checkpointing recomputes what lies between products, not the products: more than
// nothing and less than a whole layer.
TEST(ModelOutput, SelectiveCheckpointingLiesBetweenNoneAndFull) {
  const auto checkpointed = [](const std::string& how) {
    return answer_of(
        "model llama-3.1-8b --train --batch 1 --seq 2048 --fsdp 8 --gpu h100-sxm5 "
        "--framework compiled --checkpointing " +
        how);
  };
  const json none = checkpointed("none"), selective = checkpointed("selective"),
             full = checkpointed("full");
  const auto activations = [](const json& one) {
    return number(one.at("memory"), "activations_bytes");
  };
  EXPECT_GT(activations(none), activations(selective));
  EXPECT_GT(activations(selective), activations(full));
  // Transfers beside the products slow them, more in the shorter step.
  EXPECT_NEAR(part_s(selective, "feed-forward products"), part_s(none, "feed-forward products"),
              0.02 * part_s(none, "feed-forward products"));
  EXPECT_GT(part_s(selective, "activation"), part_s(none, "activation"));
  EXPECT_GT(part_s(full, "feed-forward products"), part_s(none, "feed-forward products"));
}

// By hand: 16 GPUs are two machines. Gathering and scattering a layer's weights, each adapter
// carries an eighth of 15/16 of them; at a tenth of the rate that takes ten times as long.
TEST(ModelOutput, TheNetworkJoinsMachines) {
  const auto between = [](const std::string& rate) {
    return part_s(answer_of("model gpt2-xl --train --batch 1 --seq 256 --fsdp 16 --framework ideal "
                            "--gpu h100-sxm5 --network " +
                            rate),
                  "gradients and weights between GPUs");
  };
  const double slow = between("1e8"), slower = between("1e7");
  EXPECT_GT(slow, 0);
  EXPECT_NEAR(slower / slow, 10, 0.5);
  expect_refusal("model gpt2 --train --gpu h100-sxm5 --network 1", kBadInput, "'network'");
}

TEST(ModelOutput, DropoutAndRoutingGoWithTheirSteps) {
  const json with = answer_of(kTraining + "--dropout yes");
  EXPECT_GT(number(with.at("time"), "expected_s"),
            number(answer_of(kTraining).at("time"), "expected_s"));
  expect_refusal("model gpt2 --prefill --gpu h100-sxm5 --dropout yes", kBadInput, "'dropout'");
  expect_refusal(kTraining + "--routing even", kUsage, "balanced");
}

TEST(SolveModel, HoldsForTheValuesThatFulfilTheConditionAndFit) {
  const std::string asked =
      "solve model llama-3.1-70b --decode --batch 64 --context 8192 --gpu h100-sxm5 --find "
      "tp=1,2,4,8 --until 'time_per_token<=200ms'";
  const json answer = json::parse(run_program(asked + " --format json").out);
  EXPECT_EQ(answer.at("holds"), json::parse("[4,8]"));  // 1 and 2 do not fit 80 GB
  ASSERT_EQ(answer.at("values").size(), 4U);
  for (const json& one : answer.at("values")) {
    const json step =
        answer_of("model llama-3.1-70b --decode --batch 64 --context 8192 --gpu h100-sxm5 --tp " +
                  std::to_string(one.at("value").get<int>()));
    EXPECT_DOUBLE_EQ(number(one, "time_per_token"), number(step.at("time"), "expected_s"));
    EXPECT_EQ(one.at("fits"), step.at("memory").at("fits"));
  }
  EXPECT_THAT(run_program(asked).out, HasSubstr("holds for tp 4, 8"));
}

TEST(SolveModel, AsksServicesToo) {
  const json answer = json::parse(
      run_program("solve model qwen3-32b --serve --input-tokens 2048 --output-tokens 256 --tp 2 "
                  "--gpu h100-sxm5 --find concurrency=1,8,64 --until 'tokens_per_s>=300' "
                  "--format json")
          .out);
  ASSERT_EQ(answer.at("values").size(), 3U);
  EXPECT_EQ(answer.at("holds").back(), 64);
  EXPECT_LT(number(answer.at("values")[0], "tokens_per_s"), 300);
}

TEST(SolveModel, RefusalsSayWhatToDo) {
  const std::string asked = "solve model gpt2 --train --gpu h100-sxm5 ";
  expect_refusal(asked + "--until 'time<=1s'", kUsage, "--find");
  expect_refusal(asked + "--find batch=1,2", kUsage, "--until");
  expect_refusal(asked + "--find batch --until 'time<=1s'", kUsage, "KEY=VALUES");
  expect_refusal(asked + "--find bach=1,2 --until 'time<=1s'", kUsage, "batch");
  expect_refusal(asked + "--batch 2 --find batch=1,2 --until 'time<=1s'", kUsage, "leave out");
  expect_refusal(asked + "--find batch=1,2 --until 'time=1s'", kUsage, "time_per_token<=20ms");
  expect_refusal(asked + "--find batch=1,2 --until 'time<=1'", kUsage, "unit");
  expect_refusal(asked + "--find tp=5,7 --until 'time<=1s'", kBadInput, "'tp' 5");
  expect_refusal(asked + "--find batch=1,2 --until 'time_to_first_token<=1s'", kUsage, "no time");
}

TEST(KernelsCommand, ListsCollectives) {
  const Outcome all = run_program("kernels");
  EXPECT_THAT(all.out, HasSubstr("collective.send_recv"));
  EXPECT_THAT(all.out, HasSubstr("layer.rotary"));
  EXPECT_THAT(run_program("kernels collective.all_reduce").out, HasSubstr("--bytes"));
  const json one = json::parse(run_program("kernels collective --format json").out);
  EXPECT_EQ(one[0].at("variants").size(), 5U);
  expect_refusal("kernels collective.all_redce", kUsage, "collective.all_reduce");
}

}  // namespace
}  // namespace roofcast::cli
