#include "cli/explorer/answer_query.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "model/types/problem.hpp"
#include "tests/cli/run_program.hpp"

namespace roofcast::cli {
namespace {

using nlohmann::json;
using testing::run_program;

json ask(const json& queries) {
  ExplorerDevices devices;
  return json::parse(explorer_answer(json{{"queries", queries}, {"width", 620}}.dump(), devices));
}

json file(const std::string& path) {
  return json::parse(std::ifstream(std::string(ROOFCAST_SPECS "/../") + path));
}

const json kTiled = {
    {"kernel", "gemm.tiled"}, {"gpu", "h200-sxm"}, {"m", 1024}, {"n", 1024}, {"k", 512},
    {"dtype", "fp32"}};

std::string message(const json& answer) {
  return answer.at("error").at("message");
}

TEST(ExplorerAnswer, IsWhatPredictPrints) {
  const json expected = json::parse(
      run_program("predict gemm.tiled --m 1024 --n 1024 --k 512 --gpu h200-sxm --format json").out);
  EXPECT_EQ(ask(json::array({kTiled}))["answers"][0], expected);
}

TEST(ExplorerAnswer, TakesOverridesAndTheCacheState) {
  json query = kTiled;
  query["set"] = {{"sm_count", 264}, {"memory/dram_bandwidth_bytes_per_s", 9.6e12}};
  query["cache"] = "steady";
  const json expected = json::parse(
      run_program(
          "predict gemm.tiled --m 1024 --n 1024 --k 512 --gpu h200-sxm --cache steady --set "
          "sm_count=264 --set memory/dram_bandwidth_bytes_per_s=9600000000000 --format json")
          .out);
  EXPECT_EQ(ask(json::array({query}))["answers"][0], expected);
}

TEST(ExplorerAnswer, DrawsARooflineForEachDevice) {
  json other = kTiled;
  other["gpu"] = "a100-sxm4-80gb";
  json changed = kTiled;
  changed["set"] = {{"memory/dram_bandwidth_bytes_per_s", 9.6e12}};
  const json answer = ask(json::array({kTiled, other, kTiled, changed}));
  std::vector<std::string> ids;
  for (const json& chart : answer["charts"]) ids.push_back(chart["id"]);
  EXPECT_EQ(ids, (std::vector<std::string>{"roofline-1", "roofline-2", "roofline-3", "parts",
                                           "waves", "traffic"}));
  EXPECT_EQ(answer["charts"][0]["spec"]["datasets"]["predicted"].size(), 2U);
}

TEST(ExplorerAnswer, OfAFamilyIsItsLimit) {
  json query = kTiled;
  query["kernel"] = "gemm";
  const json answer = ask(json::array({query}));
  EXPECT_GT(answer["answers"][0]["limit"]["time_s"], 0);
  EXPECT_EQ(answer["charts"].size(), 1U);
}

TEST(ExplorerAnswer, TakesASpecificationAndAKernelFileInPlaceOfNames) {
  json query = {{"kernel", file("examples/kernels/swiglu.json")},
                {"gpu", file("hw_specs/p100.json")},
                {"tokens", 1024}};
  const std::string command = "predict " ROOFCAST_SPECS
                              "/../examples/kernels/swiglu.json --tokens 1024 --gpu " ROOFCAST_SPECS
                              "/p100.json --format json";
  EXPECT_EQ(ask(json::array({query}))["answers"][0], json::parse(run_program(command).out));
  query["gpu"].erase("name");
  EXPECT_NE(message(ask(json::array({query}))["answers"][0]).find("the specification"),
            std::string::npos);
}

TEST(ExplorerAnswer, OfAStepOfAModelIsWhatQueriesAnswer) {
  const json shipped = {{"model", "llama-3.1-8b"}, {"gpu", "h100-sxm5"},
                        {"phase", "decode"},       {"batch", 16},
                        {"context", 4096},         {"dtype", "bf16"}};
  const json expected = json::parse(run_program("model llama-3.1-8b --decode --batch 16 --context "
                                                "4096 --dtype bf16 --gpu h100-sxm5 --format json")
                                        .out);
  json own = shipped;
  own["model"] = file("architectures/llama-3.1-8b.json");
  const json answer = ask(json::array({shipped, own}));
  EXPECT_EQ(answer["answers"][0], expected);
  EXPECT_EQ(answer["answers"][1]["time"], expected["time"]);
  EXPECT_TRUE(answer["charts"].empty());
  own["phase"] = "sleep";
  EXPECT_NE(message(ask(json::array({own}))["answers"][0]).find("train"), std::string::npos);
}

TEST(ExplorerIdentify, TellsKernelsGpusAndModelsApart) {
  const auto kind = [](const char* path) {
    return json::parse(explorer_identify(file(path).dump()))["kind"].get<std::string>();
  };
  EXPECT_EQ(kind("hw_specs/k80.json"), "gpu");
  EXPECT_EQ(kind("examples/kernels/rotary.json"), "kernel");
  EXPECT_EQ(kind("architectures/gpt2.json"), "model");
  const json kernel = json::parse(explorer_identify(file("examples/kernels/swiglu.json").dump()));
  EXPECT_EQ(kernel["entry"]["parameters"][0]["name"], "tokens");
  for (const char* text :
       {"", "[]", "{}", "{\"model_type\":\"x\"}", "{\"work\":1}", "{\"name\":1}"}) {
    EXPECT_THROW(explorer_identify(text), InputError) << text;
  }
}

TEST(ExplorerAnswer, SaysWhatIsWrongInItsPlace) {
  const auto with = [](const char* key, const json& value) {
    json query = kTiled;
    query[key] = value;
    return message(ask(json::array({query, kTiled}))["answers"][0]);
  };
  EXPECT_NE(with("kernel", "gemm.tield").find("gemm.tiled"), std::string::npos);
  EXPECT_NE(with("gpu", "../../etc/passwd").find("no GPU is named"), std::string::npos);
  EXPECT_NE(with("m", 1.5).find("whole number"), std::string::npos);
  EXPECT_NE(with("m", 0).find("m"), std::string::npos);
  EXPECT_NE(with("cache", "lukewarm").find("cold, warm, steady or repeated"), std::string::npos);
  EXPECT_NE(with("set", {{"no_such_key", 1}}).find("no_such_key"), std::string::npos);
  EXPECT_NE(with("set", {{"sm_count", "x"}}).find("takes a number"), std::string::npos);
}

TEST(ExplorerAnswer, RefusesWhatIsNoRequest) {
  for (const char* text : {"", "[]", "{}", "{\"queries\":1}", "{\"queries\":[{},{},{},{},{}]}"}) {
    ExplorerDevices devices;
    EXPECT_THROW(explorer_answer(text, devices), InputError) << text;
  }
}

TEST(ExplorerCatalog, ListsKernelsWithTheirParametersAndGpus) {
  const json catalog = json::parse(explorer_catalog());
  EXPECT_GT(catalog["kernels"].size(), 50U);
  EXPECT_GT(catalog["gpus"].size(), 10U);
  for (const json& kernel : catalog["kernels"]) EXPECT_FALSE(kernel["dtypes"].empty());
  const json values = json::parse(explorer_values("h200-sxm"));
  EXPECT_GT(values["values"].size(), 30U);
  EXPECT_THROW(explorer_values("none"), InputError);
}

}  // namespace
}  // namespace roofcast::cli
