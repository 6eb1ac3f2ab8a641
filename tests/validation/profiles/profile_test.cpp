#include "validation/profiles/profile.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "hw_specs/loader.hpp"

namespace roofcast::validation {
namespace {

// Of an H100, PyTorch 2.11: four layers of GPT-2, batch 8 x 1024, eager bf16, vocabulary 50257.
const std::string kStep = std::string(ROOFCAST_EXAMPLE_TRACES) + "/gpt2_step.json.gz";

Gpu h100() {
  const specs::Embedded& found = *specs::find_embedded("h100-sxm5");
  return specs::load(
      {"h100-sxm5", std::string(found.text), "overlay", std::string(found.overlay_text), {}});
}

std::string written(const std::string& text) {
  const std::string path = ::testing::TempDir() + "roofcast_trace_test.json";
  std::ofstream(path) << text;
  return path;
}

TEST(Trace, KernelsBelongToTheOperatorsThatLaunchedThem) {
  const Trace trace = read_trace(kStep);
  EXPECT_EQ(trace.kernels, 598);
  EXPECT_NEAR(trace.busy_s, 29.03e-3, 0.01e-3);
  EXPECT_GT(trace.span_s, trace.busy_s);
  std::size_t products = 0;
  for (const TracedCall& call : trace.calls) {
    EXPECT_FALSE(call.kernels.empty());
    if (call.name != "aten::mm") continue;
    ++products;
    ASSERT_EQ(call.inputs.size(), 2U);
    EXPECT_EQ(call.inputs[0].type, "c10::BFloat16");
  }
  EXPECT_EQ(products, 35U);
}

TEST(Trace, RefusesWhatIsNoTrace) {
  EXPECT_THROW(read_trace("nosuch.json"), specs::SpecError);
  EXPECT_THROW(read_trace(written("{\"traceEvents\": [")), specs::SpecError);
  EXPECT_THROW(read_trace(written("{}")), specs::SpecError);
  EXPECT_THROW(read_trace(written("[1, 2]")), specs::SpecError);
  EXPECT_THROW(read_trace(written(R"({"traceEvents": [{"cat": 3, "name": []}]})")),
               specs::SpecError);
  EXPECT_THROW(
      read_trace(written(R"({"traceEvents": [{"cat": "kernel", "name": "k", "ts": "soon"}]})")),
      specs::SpecError);
}

TEST(Trace, AKernelWithoutAnOperatorKeepsItsName) {
  const Trace trace = read_trace(written(
      R"({"traceEvents": [{"cat": "kernel", "name": "mine", "ts": 1, "dur": 2, "args": {}}]})"));
  ASSERT_EQ(trace.calls.size(), 1U);
  EXPECT_EQ(trace.calls[0].name, "mine");
  EXPECT_DOUBLE_EQ(trace.busy_s, 2e-6);
}

TEST(Operations, AProductLiesAsItsStridesSay) {
  TracedCall call;
  call.name = "aten::mm";
  call.inputs = {{{50257, 8192}, {1, 50257}, "c10::BFloat16"},
                 {{8192, 768}, {768, 1}, "c10::BFloat16"}};
  const auto found = recognize(call);
  ASSERT_TRUE(found && found->is_product);
  const auto parameters = found->kernel.parameters();
  const auto value = [&](std::string_view name) {
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      if (parameters[i].name == name) return found->problem[i];
    }
    return std::int64_t{-1};
  };
  EXPECT_EQ(value("m"), 50257);
  EXPECT_EQ(value("n"), 768);
  EXPECT_EQ(value("k"), 8192);
  EXPECT_EQ(value("layout"), 2);  // tn
  EXPECT_EQ(value("lda"), 50257);
}

TEST(Operations, WhatIsNotKnownOrHasNoShapesIsNotRecognized) {
  TracedCall call;
  call.name = "aten::mm";
  EXPECT_FALSE(recognize(call));
  call.name = "aten::no_such";
  EXPECT_FALSE(recognize(call));
}

// The same step with 50304 takes 16.1 ms of kernels (measured).
TEST(Profile, FindsThePaddedVocabularyFirst) {
  const Profile profile = profile_of(read_trace(kStep), h100());
  EXPECT_GT(profile.recognized_s, 0.95 * profile.trace.busy_s);
  EXPECT_NEAR(profile.forecast_s / profile.recognized_s, 1, 0.2);
  ASSERT_FALSE(profile.mends.empty());
  const Mend& first = profile.mends.front();
  EXPECT_NE(first.what.find("50257 to 50304"), std::string::npos) << first.what;
  EXPECT_EQ(first.calls, 3);
  EXPECT_NEAR((profile.trace.busy_s - first.saved_s) / 16.1e-3, 1, 0.1);
}

}  // namespace
}  // namespace roofcast::validation
