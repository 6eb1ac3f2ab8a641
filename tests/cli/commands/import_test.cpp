#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <nlohmann/json.hpp>

#include "tests/cli/run_program.hpp"

namespace roofcast::cli {
namespace {

using testing::expect_refusal;
using testing::Folder;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::Outcome;
using testing::run_program;

const std::string kTraceFile = ROOFCAST_EXAMPLE_TRACES "/gpt2_step.json.gz";
const std::string kStep = "import " + kTraceFile + " --gpu h100-sxm5";
const std::string kTable = ROOFCAST_EXAMPLE_TRACES "/../profiles/layer_ncu.csv";

TEST(Import, SaysTheUnknownShareAndWhatToChangeFirst) {
  const Outcome outcome = run_program(kStep);
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_LT(outcome.out.find("not recognized"), outcome.out.find("what to change first"));
  EXPECT_LT(outcome.out.find("no forecast"), outcome.out.find("what to change first"));
  EXPECT_THAT(outcome.out, HasSubstr("pad 50257 to 50304"));
}

TEST(Import, TheJsonHasTheContract) {
  const Outcome outcome = run_program(kStep + " --format json");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const auto answer = nlohmann::json::parse(outcome.out);
  const double total_s = answer.at("total_s").get<double>();
  double sum_s = 0, share = 0;
  for (const auto& one : answer.at("kernels")) {
    sum_s += one.at("time_s").get<double>();
    share += one.at("share").get<double>();
    EXPECT_TRUE(one.at("recognized").is_boolean());
    for (const char* key : {"name", "calls", "limit_s", "expected_s", "bound"}) {
      EXPECT_TRUE(one.contains(key)) << key;
    }
  }
  EXPECT_NEAR(sum_s, total_s, 1e-9);
  EXPECT_NEAR(share, 1, 1e-9);
  EXPECT_GT(answer.at("recognized_share").get<double>(), 0.99);
  const auto& mends = answer.at("mends");
  ASSERT_FALSE(mends.empty());
  EXPECT_THAT(mends.at(0).at("what").get<std::string>(), HasSubstr("50257 to 50304"));
  EXPECT_NEAR(mends.at(0).at("total_after_s").get<double>(),
              total_s - mends.at(0).at("gain_s").get<double>(), 1e-12);
  for (std::size_t i = 1; i < mends.size(); ++i) {
    EXPECT_GE(mends[i - 1].at("gain_s").get<double>(), mends[i].at("gain_s").get<double>());
  }
}

// One layer of a transformer in bf16 on an H100: eleven kernels, 272.6 us.
TEST(Import, ReadsATableOfNsightCompute) {
  const Outcome outcome = run_program("import " + kTable + " --gpu h100-sxm5 --format json");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const auto answer = nlohmann::json::parse(outcome.out);
  EXPECT_NEAR(answer.at("total_s").get<double>(), 272.6e-6, 0.1e-6);
  EXPECT_EQ(answer.at("launches"), 11);
  EXPECT_EQ(answer.at("cache"), "cold");
  EXPECT_DOUBLE_EQ(answer.at("recognized_share").get<double>(), 1);
  // Products without shapes have a place under the roofline and a limit, no forecast.
  const auto& product = answer.at("kernels").at(0);
  EXPECT_EQ(product.at("does"), "product");
  EXPECT_EQ(product.at("lacks"), "no shape");
  EXPECT_TRUE(product.at("expected_s").is_null());
  // The mean of 2 * 4096 * 1024 * 3072 and 2 * 4096 * 1024 * 4096 FLOP, inferred from how busy the
  // tensor pipe was.
  EXPECT_NEAR(product.at("roofline").at("flops").get<double>() / 30.1e9, 1, 0.05);
  EXPECT_GT(answer.at("no_shape_share").get<double>(), 0.5);
}

TEST(Import, WritesCsvWithALineAKernel) {
  const Outcome outcome = run_program(kStep + " --format csv");
  const auto lines = testing::lines_of(outcome.out);
  EXPECT_THAT(lines.at(0), HasSubstr("name,shapes,calls,time_s"));
  EXPECT_GT(lines.size(), 50U);
}

TEST(Import, APageEscapesWhatTheProfileNames) {
  const Folder folder;
  const std::string trace = folder.write(
      "hostile.json",
      R"({"traceEvents": [{"cat": "kernel", "name": "<script>alert(1)</script>&\"'", "ts": 1,
          "dur": 2, "args": {}}]})");
  const std::string page = folder.file("page.html");
  const Outcome outcome = run_program("import " + trace + " --gpu h100-sxm5 -o " + page);
  if (outcome.code != 0 && outcome.err.find("ROOFCAST_REPORT_BUNDLE") != std::string::npos) {
    GTEST_SKIP() << "built without the page";
  }
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const std::string html = testing::contents(page);
  EXPECT_THAT(html, Not(HasSubstr("<script>alert(1)")));
  EXPECT_THAT(html, HasSubstr("What to change first"));
}

TEST(Import, HostileNamesAreShownNotObeyed) {
  const Folder folder;
  const std::string trace = folder.write("hostile.json",
                                         "{\"traceEvents\": [{\"cat\": \"kernel\", \"name\": "
                                         "\"a\\u001b[31mb\", \"ts\": 1, \"dur\": 2}]}");
  const Outcome outcome = run_program("import " + trace + " --gpu h100-sxm5");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, Not(HasSubstr("\x1b")));
}

TEST(Import, WarnsWhereTheProfileIsOfAnotherGpu) {
  for (const std::string& file : {kTraceFile, kTable}) {
    const Outcome other = run_program("import " + file + " --gpu k80");
    EXPECT_EQ(other.code, 0) << other.err;
    EXPECT_THAT(other.err, HasSubstr("of a device of compute capability 9.0, k80 has 3.7"));
    EXPECT_THAT(run_program("import " + file + " --gpu h100-sxm5").err,
                Not(HasSubstr("compute capability")));
  }
}

// User time of child processes (s), to which other programs on the machine add nothing.
double seconds_of_children() {
  rusage usage{};
  getrusage(RUSAGE_CHILDREN, &usage);
  return static_cast<double>(usage.ru_utime.tv_sec) +
         1e-6 * static_cast<double>(usage.ru_utime.tv_usec);
}

TEST(Import, AHundredThousandKernelsTakeLessThanTwoSeconds) {
#if defined(__SANITIZE_ADDRESS__)
  GTEST_SKIP() << "the sanitizer takes most of the time";
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
  GTEST_SKIP() << "the sanitizer takes most of the time";
#endif
#endif
  std::string table =
      "ID,Kernel Name,Block Size,Grid Size,gpu__time_duration.sum,dram__bytes_read.sum\n"
      ",,,,ns,byte\n";
  for (int i = 0; i < 100'000; ++i) {
    table += fmt::format("{},kernel_{},\"(256, 1, 1)\",\"({}, 1, 1)\",{},{}\n", i, i % 7,
                         i % 300 + 1, 3000 + i % 1000, 100 * (i % 300));
  }
  const Folder folder;
  const std::string file = folder.write("kernels.csv", table);
  const double before_s = seconds_of_children();
  const Outcome outcome = run_program("import " + file + " --gpu h100-sxm5 --format json");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(nlohmann::json::parse(outcome.out).at("launches"), 100'000);
  EXPECT_LT(seconds_of_children() - before_s, 2);
}

TEST(Import, RefusesWhatItCannotRead) {
  const Folder folder;
  const auto refused = [&](const std::string& text, const std::string& part) {
    expect_refusal("import " + folder.write("p", text) + " --gpu h100-sxm5", testing::kBadInput,
                   part);
  };
  expect_refusal("import nosuch.json --gpu h100-sxm5", testing::kBadInput, "nosuch.json");
  expect_refusal("import --gpu h100-sxm5", testing::kUsage, "which trace");
  expect_refusal("import " + kTraceFile, testing::kUsage, "--gpu");
  expect_refusal(kStep + " --device x", testing::kUsage, "--device");
  expect_refusal(kStep + " --format json -o page.html", testing::kUsage, "picture");
  refused("", "nothing");
  refused(" \n", "nothing");
  refused("{\"traceEvents\": [{\"cat\": \"kernel\"", "ends in the middle");
  refused("a,b\n1,2\n", "Kernel Name");
  refused(
      R"({"traceEvents": [{"cat": "kernel", "name": "a", "ts": 1, "dur": 2, "args": {"device": 0}},
              {"cat": "kernel", "name": "a", "ts": 1, "dur": 2, "args": {"device": 1}}]})",
      "--device");
  expect_refusal("import " + kTraceFile + " " + kTraceFile + " --gpu h100-sxm5", testing::kBadInput,
                 "each trace in turn");
}

}  // namespace
}  // namespace roofcast::cli
