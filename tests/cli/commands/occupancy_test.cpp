#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/cli/run_program.hpp"

namespace roofcast::cli {
namespace {

using nlohmann::json;
using testing::expect_refusal;
using testing::Outcome;
using testing::run_program;

TEST(Occupancy, SaysWhatLimitsAndWhatHelps) {
  const Outcome outcome = run_program(
      "occupancy --registers 96 --shared 48KiB --threads 192 --gpu a100-sxm4-80gb --format json");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const json answer = json::parse(outcome.out);
  // 164 KiB an SM; a block takes 48 KiB and 1 KiB of the system: 3 blocks of 6 warps.
  EXPECT_EQ(answer.at("blocks_per_sm"), 3);
  EXPECT_EQ(answer.at("warps_per_sm"), 18);
  EXPECT_EQ(answer.at("limited_by"), "registers");
  EXPECT_FALSE(answer.at("better").empty());
}

TEST(Occupancy, SharedMemoryHasUnits) {
  const auto with = [](const std::string& shared) {
    return run_program("occupancy --threads 256 --gpu h200-sxm --shared " + shared).out;
  };
  EXPECT_EQ(with("48KiB"), with("49152"));
  EXPECT_EQ(with("48kB"), with("48000"));
}

TEST(Occupancy, ClustersAsCudaFitsThem) {
  // cudaOccupancyMaxActiveClusters on an H200, two blocks an SM (h200-sxm-clusters-2026-11-30.csv).
  const auto with = [](const std::string& cluster) {
    const Outcome outcome =
        run_program("occupancy --threads 1024 --gpu h200-sxm --format json --cluster " + cluster);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    return json::parse(outcome.out);
  };
  EXPECT_EQ(with("1").at("resident_blocks"), 264);
  EXPECT_EQ(with("8").at("resident_clusters"), 30);
  EXPECT_EQ(with("8").at("resident_blocks"), 240);
  EXPECT_EQ(with("16").at("resident_clusters"), 14);
  EXPECT_THAT(run_program("occupancy --threads 1024 --gpu h200-sxm --cluster 8").out,
              ::testing::HasSubstr("30 clusters of 8"));
  expect_refusal("occupancy --threads 256 --gpu a100-sxm4-80gb --cluster 2", testing::kBadInput,
                 "no clusters");
  expect_refusal("occupancy --threads 256 --gpu h200-sxm --cluster 17", testing::kBadInput,
                 "1 to 16");
}

TEST(Occupancy, RefusesWhatNoBlockHas) {
  expect_refusal("occupancy --gpu h200-sxm", testing::kUsage, "--threads");
  expect_refusal("occupancy --threads 2048 --gpu h200-sxm", testing::kBadInput, "1 to 1024");
  expect_refusal("occupancy --threads 256 --shared 1e30 --gpu h200-sxm", testing::kUsage,
                 "whole bytes");
  expect_refusal("occupancy --threads 256 --shared 48K --gpu h200-sxm", testing::kUsage, "64MiB");
  expect_refusal("occupancy --threads 256 --gpu tpu-v4", testing::kBadInput, "no warps");
}

}  // namespace
}  // namespace roofcast::cli
