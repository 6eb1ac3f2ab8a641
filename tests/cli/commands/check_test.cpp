#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/cli/run_program.hpp"

namespace roofcast::cli {
namespace {

using testing::expect_refusal;
using testing::Folder;
using ::testing::HasSubstr;
using testing::Outcome;
using testing::run_program;

// 2 * 8192^3 FLOP at 1079 TFLOP/s take 1.019 ms.
constexpr const char* kTable =
    "kernel,gpu,dtype,m,n,k,n_total,time_us\n"
    "gemm,h100-sxm5,bf16,8192,8192,8192,1,900\n"
    "gemm.library,h100-sxm5,bf16,8192,8192,8192,1,1400\n";

TEST(Check, ListsWhatNoHardwareCanHaveMeasuredAndExitsWith1) {
  const Folder folder;
  const std::string table = folder.write("t.csv", kTable);
  const Outcome outcome = run_program("check " + table);
  EXPECT_EQ(outcome.code, 1) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("1 of 2 rows are faster than their limit"));
  EXPECT_THAT(outcome.out, HasSubstr("steady"));  // what the limit takes for granted
  EXPECT_THAT(outcome.out, HasSubstr("1.13x"));
  EXPECT_THAT(outcome.err, HasSubstr("n_total"));  // a column that nothing reads
  EXPECT_THAT(run_program("check " + table + " --cache cold").out, HasSubstr("cold"));
}

TEST(Check, ATableOfWhatIsPossibleExitsWith0) {
  const Folder folder;
  const std::string table =
      folder.write("t.json", R"([{"kernel": "gemm", "dtype": "bf16", "m": 8192, "n": 8192,
                                  "k": 8192, "time_us": 1400}])");
  const Outcome outcome = run_program("check " + table + " --gpu h100-sxm5");
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("0 of 1"));
}

TEST(Check, WritesJsonAndCsv) {
  const Folder folder;
  const std::string table = folder.write("t.csv", kTable);
  const auto answer = nlohmann::json::parse(run_program("check " + table + " --format json").out);
  EXPECT_EQ(answer.at("rows"), 2);
  EXPECT_EQ(answer.at("faster_than_limit"), 1);
  EXPECT_EQ(answer.at("cache"), "steady");
  EXPECT_EQ(answer.at("impossible").at(0).at("line"), 2);
  EXPECT_NEAR(answer.at("impossible").at(0).at("times_too_fast").get<double>(), 1.133, 0.001);
  const std::string csv = run_program("check " + table + " --format csv").out;
  EXPECT_EQ(testing::lines_of(csv).size(), 2U);
  EXPECT_THAT(csv, HasSubstr("2,gemm,"));
}

TEST(Check, ARunFileIsATableToo) {
  const Outcome outcome = run_program("check " ROOFCAST_SPECS
                                      "/../validation/measured/h200-sxm-default-2026-11-21.json");
  EXPECT_EQ(outcome.code, 0) << outcome.out;
  EXPECT_THAT(outcome.out, HasSubstr("of each case"));
  expect_refusal("check " ROOFCAST_SPECS
                 "/../validation/measured/h200-sxm-default-2026-11-21.json --cache cold",
                 testing::kUsage, "run file");
}

TEST(Check, RefusesWhatItCannotRead) {
  const Folder folder;
  expect_refusal("check", testing::kUsage, "which table");
  expect_refusal("check nosuch.csv", testing::kBadInput, "nosuch.csv");
  expect_refusal("check " + folder.write("empty.csv", ""), testing::kBadInput, "header");
  expect_refusal(
      "check " + folder.write("no_time.csv", "kernel,gpu,dtype,n\nstream.copy,h100-sxm5,fp32,64\n"),
      testing::kBadInput, "time_us");
  expect_refusal(
      "check " + folder.write("bad.csv",
                              "kernel,gpu,dtype,n,time_us\nstream.copy,h100-sxm5,fp32,64,fast\n"),
      testing::kBadInput, "line 2");
  expect_refusal(
      "check " +
          folder.write("gpu.csv", "kernel,gpu,dtype,n,time_us\nstream.copy,h900,fp32,64,1\n"),
      testing::kBadInput, "h900");
  expect_refusal("check " + folder.write("cut.json", "[{\"kernel\": \"gemm\""), testing::kBadInput,
                 "cut.json");
}

}  // namespace
}  // namespace roofcast::cli
