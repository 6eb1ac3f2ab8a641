// The JSON contract: every key, in order, with its type.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <sstream>

#include <nlohmann/json.hpp>

#include "cli/input/device.hpp"
#include "cli/output/answer.hpp"
#include "model/kernels/attention/attention.hpp"

namespace roofcast::cli {
namespace {

using Json = nlohmann::ordered_json;

using Shape = std::array<std::int64_t, 3>;

/// The problem with these values for the kernel's parameters without a default.
Problem problem_of(const KernelRef& kernel, const Shape& shape) {
  Problem problem;
  const auto parameters = kernel.parameters();
  unsigned given = 0;
  for (std::size_t i = 0; i < parameters.size() && i < shape.size(); ++i) {
    if (parameters[i].fallback) continue;
    problem[i] = shape[i];
    given |= 1U << i;
  }
  check(kernel, problem, given);
  return problem;
}

std::string text_of(std::string_view name, const Gpu& gpu, const Shape& shape) {
  const KernelRef kernel = find_kernel(name);
  const Prediction prediction = predict(kernel, problem_of(kernel, shape), gpu);
  fmt::memory_buffer out;
  JsonWriter json(out);
  write_json(json, {kernel, gpu, prediction});
  return fmt::to_string(out);
}

std::string text_of(std::string_view name, const char* gpu, const Shape& shape) {
  return text_of(name, load_device(gpu, {}), shape);
}

std::vector<std::string> keys(const Json& object) {
  std::vector<std::string> found;
  for (const auto& [key, value] : object.items()) found.push_back(key);
  return found;
}

using Keys = std::vector<std::string>;

void expect_common_parts(const Json& answer) {
  EXPECT_EQ(answer["schema_version"], 1);
  EXPECT_TRUE(answer["schema_version"].is_number_integer());
  EXPECT_EQ(keys(answer["work"]), (Keys{"flops", "compulsory_bytes", "dram_read_bytes",
                                        "dram_write_bytes", "l2_bytes", "shared_bytes"}));
  for (const auto& [key, value] : answer["work"].items()) EXPECT_TRUE(value.is_number()) << key;
  EXPECT_EQ(keys(answer["arithmetic_intensity"]), (Keys{"compulsory", "dram"}));
  EXPECT_EQ(keys(answer["io"]), (Keys{"complexity", "lower_bound_bytes", "on_chip_bytes"}));
  EXPECT_TRUE(answer["io"]["complexity"].is_string());
  EXPECT_EQ(keys(answer["limit"]), (Keys{"time_s", "bound"}));
  EXPECT_EQ(keys(answer["rate"]), (Keys{"flops_per_s", "dram_bytes_per_s", "fraction_of_limit"}));
  EXPECT_TRUE(answer["notes"].is_array());
}

// The key is there only where variants of the family differ in their footprint.
TEST(PredictionJson, AttentionSaysWhatMemoryItNeeds) {
  const KernelRef kernel = find_kernel("attention.flash2");
  Problem problem;
  problem.dtype = DType::bf16;
  problem[attention::kHeads] = 16;
  problem[attention::kSeqQ] = 4096;
  check(kernel, problem, 1U << attention::kHeads | 1U << attention::kSeqQ);
  const Gpu gpu = load_device("h100-sxm5", {});
  fmt::memory_buffer out;
  JsonWriter json(out);
  write_json(json, {kernel, gpu, predict(kernel, problem, gpu)});
  const Json answer = Json::parse(fmt::to_string(out));
  const Keys found = keys(answer);
  EXPECT_EQ(*(std::find(found.begin(), found.end(), "io") + 1), "footprint_bytes");
  // Q, K, V and O of 16 heads, and a number of fp32 for each row.
  EXPECT_EQ(answer["footprint_bytes"], 4.0 * 16 * 4096 * 128 * 2 + 16 * 4096 * 4);
  EXPECT_EQ(answer["problem"]["pass"], "forward");
}

TEST(PredictionJson, AVariantHasEveryKeyInOrder) {
  const Json answer = Json::parse(text_of("gemm.tiled", "h200-sxm", {4096, 4096, 4096}));
  EXPECT_EQ(keys(answer),
            (Keys{"schema_version", "kernel", "gpu", "problem", "work", "arithmetic_intensity",
                  "io", "traffic", "launch", "occupancy", "waves", "limit", "time", "rate",
                  "waterfall", "calibration", "notes"}));
  expect_common_parts(answer);
  EXPECT_EQ(answer["kernel"], "gemm.tiled");
  EXPECT_EQ(keys(answer["problem"]).back(), "dtype");
  EXPECT_EQ(answer["problem"]["m"], 4096);
  EXPECT_EQ(answer["work"]["flops"], 2.0 * 4096 * 4096 * 4096);
  ASSERT_EQ(answer["traffic"].size(), 4U);
  constexpr std::array levels = {"requested", "l1", "l2", "dram"};
  for (std::size_t i = 0; i < levels.size(); ++i) {
    const Json& rung = answer["traffic"][i];
    EXPECT_EQ(keys(rung), (Keys{"level", "read_bytes", "write_bytes", "reason"}));
    EXPECT_EQ(rung["level"], levels[i]);
    EXPECT_TRUE(rung["read_bytes"].is_number());
    EXPECT_TRUE(rung["reason"].is_string());
  }
  EXPECT_EQ(answer["traffic"][3]["read_bytes"], answer["work"]["dram_read_bytes"]);
  EXPECT_EQ(keys(answer["launch"]),
            (Keys{"grid", "block", "cluster", "registers", "shared_bytes"}));
  for (const char* extent : {"grid", "block", "cluster"}) {
    EXPECT_EQ(answer["launch"][extent].size(), 3U);
  }
  EXPECT_EQ(keys(answer["occupancy"]), (Keys{"blocks_per_sm", "warps_per_sm", "limited_by"}));
  EXPECT_EQ(keys(answer["waves"]),
            (Keys{"count", "full", "tail_utilization", "efficiency", "active_sms"}));
  EXPECT_EQ(keys(answer["time"]),
            (Keys{"expected_s", "low_s", "high_s", "bound", "terms", "sm_cycles", "sm_clock_hz"}));
  ASSERT_FALSE(answer["time"]["terms"].empty());
  EXPECT_EQ(keys(answer["time"]["terms"][0]), (Keys{"name", "time_s"}));
  EXPECT_LE(answer["time"]["low_s"], answer["time"]["expected_s"]);
  EXPECT_LE(answer["time"]["expected_s"], answer["time"]["high_s"]);
}

TEST(PredictionJson, AFamilyHasNoLaunchAndNoTime) {
  const Json answer = Json::parse(text_of("gemm", "h200-sxm", {4096, 4096, 4096}));
  EXPECT_EQ(keys(answer),
            (Keys{"schema_version", "kernel", "gpu", "problem", "work", "arithmetic_intensity",
                  "io", "limit", "rate", "calibration", "notes"}));
  expect_common_parts(answer);
  EXPECT_GT(answer["limit"]["time_s"], 0);
}

TEST(PredictionJson, ADeviceWithoutWarpsSaysThatWavesAreNotDefined) {
  const std::string text = text_of("stream.copy", "tpu-v4", {1 << 24, 0, 0});
  const Json answer = Json::parse(text);
  expect_common_parts(answer);
  for (const char* key : {"occupancy", "waves", "time"}) EXPECT_TRUE(answer[key].is_null()) << key;
  EXPECT_NE(answer["notes"].dump().find("not defined for this device"), std::string::npos);
  EXPECT_GT(answer["limit"]["time_s"], 0);
}

TEST(PredictionJson, EveryKernelOnEveryDeviceIsJson) {
  for (const std::string_view device : device_names()) {
    const Gpu gpu = load_device(std::string(device), {});
    int answers = 0;
    for (const KernelFamily& family : catalog()) {
      for (const KernelModel& kernel : family.variants) {
        try {
          const std::string text = text_of(kernel.name, gpu, {1000, 999, 33});
          EXPECT_TRUE(Json::accept(text)) << text;
          EXPECT_EQ(text.find("nan"), std::string::npos);
          EXPECT_EQ(text.find("inf"), std::string::npos);
          ++answers;
        } catch (const InputError&) {
          // A type or a block that this device does not have: a refusal is an answer.
        }
      }
    }
    EXPECT_GT(answers, 0) << device;
  }
}

// With the settings in the answer, the forecast can be repeated or the kernel run.
TEST(PredictionJson, TheProblemHasTheSettingsThatTheModelChose) {
  const Json problem = Json::parse(text_of("norm.layernorm", "h200-sxm", {4096, 8192}))["problem"];
  for (const char* setting : {"vectors", "cluster", "rows_per_cluster"}) {
    EXPECT_GE(problem.at(setting), 1) << setting;
  }
  EXPECT_NE(problem.at("staging"), "fastest");
}

std::string answer_of(std::string_view name, const Shape& shape) {
  const KernelRef kernel = find_kernel(name);
  const Gpu gpu = load_device("h200-sxm", {});
  const Prediction prediction = predict(kernel, problem_of(kernel, shape), gpu);
  return answer_text({kernel, gpu, prediction}, Style(false));
}

TEST(AnswerText, NamesWhatBinds) {
  const std::string text = answer_of("gemm.tiled", {512, 512, 512});
  for (const char* part :
       {"gemm.tiled  m=512 n=512 k=512", "268.4 MFLOP", "shared-memory traffic", "occupancy",
        "2 blocks = 64 of 64 warps", "waves", "limit", "expected time", "of requested",
        "each byte is asked for 11 times on average", "binding", "bound by"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
  }
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
}

TEST(AnswerText, OneBlockIsNotCalledBlocks) {
  const std::string text = answer_of("gemm.vectorized", {4096, 4096, 4096});
  EXPECT_NE(text.find(" 1 block = 8 of 64 warps an SM"), std::string::npos) << text;
}

TEST(AnswerText, ACopyHasNoFlopsAndNoSharedMemory) {
  const std::string text = answer_of("stream.copy", {1 << 24});
  for (const char* part : {"FLOP", "\n  work ", "shared-memory"}) {
    EXPECT_EQ(text.find(part), std::string::npos) << part << "\n" << text;
  }
  EXPECT_NE(text.find("\n  rate                DRAM "), std::string::npos) << text;
}

TEST(Csv, RowsHaveTheHeadersColumns) {
  const KernelRef kernel = find_kernel("gemm.tiled");
  const Gpu gpu = load_device("h200-sxm", {});
  Problem problem;
  problem.values = {512, 512, 512, 32, 32, 32};
  const Prediction prediction = predict(kernel, problem, gpu);
  fmt::memory_buffer out;
  CsvWriter csv(out, {"m", "n", "k", "absent"});
  csv.header();
  csv.row({kernel, gpu, prediction});
  csv.refused(kernel, problem, gpu, "because");
  std::vector<std::ptrdiff_t> commas;
  std::string line;
  std::istringstream lines(fmt::to_string(out));
  std::string last;
  while (std::getline(lines, line)) {
    commas.push_back(std::count(line.begin(), line.end(), ','));
    last = line;
  }
  ASSERT_EQ(commas.size(), 3U);
  EXPECT_EQ(commas[0], commas[2]);
  EXPECT_TRUE(last.ends_with(",because")) << last;
}

TEST(Csv, QuotesWhereItMust) {
  EXPECT_EQ(csv_field("plain"), "plain");
  EXPECT_EQ(csv_field("a,b"), "\"a,b\"");
  EXPECT_EQ(csv_field("say \"x\"\n"), "\"say \"\"x\"\"\n\"");
}

}  // namespace
}  // namespace roofcast::cli
