#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "tests/cli/run_program.hpp"

namespace roofcast::cli {
namespace {

using nlohmann::json;
using testing::run_program;

json entry(const json& rows, const char* key, const std::string& name) {
  for (const json& row : rows) {
    if (row.at(key) == name) return row;
  }
  return nullptr;
}

TEST(GpusJson, GivesNumbersInSiUnits) {
  const json devices = json::parse(run_program("gpus --format json").out);
  const json h200 = entry(devices, "name", "h200-sxm");
  EXPECT_EQ(h200.at("year"), 2024);
  EXPECT_EQ(h200.at("sm_count"), 132);
  EXPECT_TRUE(h200.at("dram_bytes").is_number());
  EXPECT_NEAR(h200.at("dram_bandwidth_bytes_per_s").get<double>(), 4.8e12, 0.1e12);
  EXPECT_FALSE(entry(devices, "name", "tpu-v4").contains("sm_count")) << "unknown is absent";

  const json values = json::parse(run_program("gpus h200-sxm --format json").out);
  EXPECT_EQ(entry(values, "key", "chip/sm_count").at("value"), 132);
  const json beside = json::parse(run_program("gpus h200-sxm v100-sxm2 --format json").out);
  EXPECT_EQ(entry(beside, "key", "chip/sm_count").at("v100-sxm2"), 80);
}

TEST(GpusJson, WhatIsNoNumberStaysAsItIs) {
  for (const json& row : json::parse(run_program("gpus h200-sxm --format json").out)) {
    EXPECT_TRUE(row.at("source").is_string()) << row;
    EXPECT_FALSE(row.at("value").is_string()) << row;
  }
}

TEST(GpusCsv, HasTheValuesOfJson) {
  const auto rows = testing::lines_of(run_program("gpus --format csv").out);
  EXPECT_EQ(rows.front(),
            "name,year,sm_count,dram_bytes,dram_bandwidth_bytes_per_s,l2_bytes,calibration,title");
  const auto h100 = std::find_if(rows.begin(), rows.end(), [](const std::string& row) {
    return row.starts_with("h100-sxm5,2022,132,85899345920");
  });
  EXPECT_NE(h100, rows.end());
  const auto tpu = std::find_if(rows.begin(), rows.end(), [](const std::string& row) {
    return row.starts_with("tpu-v4,2021,,");
  });
  EXPECT_NE(tpu, rows.end()) << "unknown is empty";
}

TEST(Gpus, WhatChangesOneGpuNeedsItsName) {
  for (const std::string option : {"--set x=y", "--set sm_count=3", "--overlay o.json"}) {
    const std::string name = option.substr(0, option.find(' '));
    testing::expect_refusal("gpus " + option, testing::kUsage, name + " is about one GPU");
  }
  EXPECT_EQ(run_program("gpus --relative h200-sxm").code, 0);
  EXPECT_EQ(run_program("gpus h200-sxm a100-sxm4-80gb --set sm_count=100").code, 0);
}

TEST(GpusTable, MemoriesAreInBinaryUnits) {
  const std::string text = run_program("gpus").out;
  EXPECT_NE(text.find("80 GiB"), std::string::npos);
  EXPECT_NE(text.find("50 MiB"), std::string::npos);
  EXPECT_EQ(text.find("85.9 GB"), std::string::npos);
}

}  // namespace
}  // namespace roofcast::cli
