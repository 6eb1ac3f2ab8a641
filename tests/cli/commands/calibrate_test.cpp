// What `roofcast calibrate` refuses, without measuring; on a machine with a GPU one measurement.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/cli/run_program.hpp"

namespace roofcast::cli {
namespace {

using testing::contents;
using testing::expect_refusal;
using testing::Folder;
using ::testing::IsEmpty;
using testing::kBadInput;
using testing::kNoGpu;
using testing::kUsage;
using testing::Outcome;
using testing::run_program;

TEST(Calibrate, UsageErrors) {
  expect_refusal("calibrate overlay.json", kUsage, "name the overlay with -o");
  expect_refusal("calibrate -o -", kUsage, "name files");
  expect_refusal("calibrate --curves - -o /tmp/none.json", kUsage, "name files");
  expect_refusal("calibrate --ouptut x.json", kUsage, "--output");
}

TEST(Calibrate, WritesOverNoFileUnasked) {
  const Folder folder;
  const std::string overlay = folder.write("overlay.json", "mine");
  expect_refusal("calibrate -o " + overlay, kBadInput, "--force");
  const std::string curves = folder.write("other.curves.json", "mine");
  expect_refusal("calibrate -o " + folder.file("other.json"), kBadInput, "other.curves.json");
  EXPECT_EQ(contents(overlay), "mine");
  EXPECT_EQ(contents(curves), "mine");
}

TEST(Calibrate, WithoutADeviceSaysSoAndWritesNothing) {
  const Folder folder;
  const Outcome outcome =
      run_program("calibrate -o " + folder.file("overlay.json"), "", "CUDA_VISIBLE_DEVICES=");
  EXPECT_EQ(outcome.code, kNoGpu) << outcome.err;
  EXPECT_THAT(outcome.out, IsEmpty());
  EXPECT_TRUE(folder.names().empty());
}

TEST(Calibrate, MeasuresTheDeviceAtHand) {
  const Folder folder;
  const std::string overlay = folder.file("overlay.json");
  const Outcome outcome = run_program("calibrate -o " + overlay);
  if (outcome.code == kNoGpu) GTEST_SKIP() << "no GPU";
  if (outcome.err.find("no specification fits") != std::string::npos) GTEST_SKIP() << outcome.err;
  ASSERT_LE(outcome.code, 1) << outcome.err;  // 1: a value was refused
  const auto written = nlohmann::json::parse(contents(overlay));
  EXPECT_TRUE(written["sustained"].contains("dram_read_bytes_per_s"));
  EXPECT_TRUE(written["sustained"].contains("l2_latency_cycles"));
  EXPECT_TRUE(
      nlohmann::json::parse(contents(folder.file("overlay.curves.json"))).contains("curves"));
  const std::string gpu = written["gpu"];
  EXPECT_EQ(
      run_program("predict stream.copy --n 1048576 --gpu " + gpu + " --overlay " + overlay).code,
      0);
}

}  // namespace
}  // namespace roofcast::cli
