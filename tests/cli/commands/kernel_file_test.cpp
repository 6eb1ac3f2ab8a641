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

TEST(KernelFile, EveryCommandThatForecastsTakesIt) {
  const Folder folder;
  const std::string file = folder.write("mine.json", kMine);
  for (const std::string& words :
       {"roofline --gpu h200-sxm --kernel " + file + ":n=4096",
        "advise " + file + " --gpu h200-sxm",
        "solve " + file + " --gpu h200-sxm --find n=1024:1048576 --until 'time<=5us'",
        "explain " + file + " --gpu h200-sxm",
        "sweep " + file + " --set sm_count=100:132:16 --gpu h200-sxm"}) {
    const Outcome outcome = run_program(words);
    EXPECT_EQ(outcome.code, 0) << words << outcome.err;
    EXPECT_FALSE(outcome.out.empty()) << words;
  }
  const Outcome line = run_program("predict --queries - --kernel-file " + file,
                                   R"({"kernel":"mine","n":4096,"gpu":"h200-sxm"})");
  ASSERT_EQ(line.code, 0) << line.out;
  EXPECT_EQ(json::parse(line.out).at("work").at("flops"), 2.0 * 4096);
}

TEST(KernelFile, ItsEightExamplesAreForecastWhereTheyWereMeasured) {
  for (const char* name : {"stencil", "histogram", "scan", "swiglu", "residual_rmsnorm", "rotary",
                           "adamw", "cross_entropy"}) {
    const Outcome outcome = run_program(std::string("predict " ROOFCAST_EXAMPLE_KERNELS "/") +
                                        name + ".json --gpu h100-sxm5,v100-sxm2 --format json");
    EXPECT_EQ(outcome.code, 0) << name << outcome.err;
    EXPECT_EQ(lines_of(outcome.out).size(), 2U) << name;
  }
}

TEST(KernelFile, WhatNoSmHoldsIsRefused) {
  const Folder folder;
  const auto refused = [&](const std::string& launch, const std::string& part) {
    expect_refusal("predict " +
                       folder.write("mine.json", R"({"name":"mine","launch":)" + launch +
                                                     R"(,"work":{"read_bytes":64}})") +
                       " --gpu h200-sxm",
                   testing::kBadInput, part);
  };
  refused(R"({"threads":1024,"registers":255})", "65536 registers");
  refused(R"({"threads":256,"registers":32,"shared_bytes":300000})", "232448 B");
  refused(R"({"threads":2048,"registers":32})", "1 to 1024");
  refused(R"({"threads":256,"registers":300})", "255");
  refused(R"({"threads":256,"registers":32,"cluster":64})", "cluster");
}

TEST(KernelFile, MistakesAreExplained) {
  const Folder folder;
  const auto mistake = [&](const std::string& from, const std::string& to,
                           const std::string& part) {
    std::string text = kMine;
    text.replace(text.find(from), from.size(), to);
    expect_refusal("predict " + folder.write("mine.json", text) + " --gpu h200-sxm",
                   testing::kBadInput, part);
  };
  mistake("\"threads\"", "\"thread\"", "did you mean \"threads\"?");
  mistake("2*n", "2*m", "did you mean 'n'?");
  mistake("2*n", "2*(n", "close the parenthesis");
  mistake("\"4*n\"", "\"4/(n-1048576)\"", "no number");
  mistake("fp32", "fp31", "/work/flops");
  mistake("}}", "}", "syntax");
  expect_refusal("predict examples/kernels/swiglu.cu --gpu h200-sxm", testing::kUsage,
                 "roofcast inspect");
  const std::string wrong = folder.write("wrong.json", R"({"name":"mine","work":{}})");
  expect_refusal("predict " + wrong + " --gpu h200-sxm", testing::kBadInput, "launch");
  expect_refusal("predict " + folder.file("none.json") + " --gpu h200-sxm", testing::kBadInput,
                 "none.json");
}

}  // namespace
}  // namespace roofcast::cli
