// A kernel described in a file, asked about as any other.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/cli/run_program.hpp"

namespace roofcast::cli {
namespace {

using nlohmann::json;
using testing::expect_refusal;
using testing::Folder;
using ::testing::HasSubstr;
using testing::lines_of;
using testing::Outcome;
using testing::run_program;

constexpr const char* kMine =
    R"({"name":"mine","parameters":{"n":1048576},"launch":{"threads":256,"registers":32},)"
    R"("work":{"flops":{"fp32":"2*n"},"read_bytes":"4*n","write_bytes":"4*n"}})";

TEST(KernelFile, IsForecastOnEveryGpu) {
  const Folder folder;
  const Outcome outcome = run_program("predict " + folder.write("mine.json", kMine) +
                                      " --n 4194304 --gpu h100-sxm5,v100-sxm2 --format json");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const auto lines = lines_of(outcome.out);
  ASSERT_EQ(lines.size(), 2U);
  const json answer = json::parse(lines.front());
  EXPECT_EQ(answer.at("kernel"), "mine");
  EXPECT_EQ(answer.at("work").at("flops"), 2.0 * 4194304);
  EXPECT_GE(answer.at("time").at("expected_s"), answer.at("limit").at("time_s"));
}

TEST(KernelFile, IsSwept) {
  const Folder folder;
  const Outcome outcome = run_program("sweep " + folder.write("mine.json", kMine) +
                                      " --n 65536:1048576:*2 --gpu h200-sxm");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(lines_of(outcome.out).size(), 6U);
}

TEST(KernelFile, MistakesAreExplained) {
  const Folder folder;
  const std::string wrong = folder.write("wrong.json", R"({"name":"mine","work":{}})");
  expect_refusal("predict " + wrong + " --gpu h200-sxm", testing::kBadInput, "launch");
  expect_refusal("predict " + folder.file("none.json") + " --gpu h200-sxm", testing::kBadInput,
                 "none.json");
}

}  // namespace
}  // namespace roofcast::cli
