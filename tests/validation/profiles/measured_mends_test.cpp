// What a mend promises of a recorded step, against the step recorded with that change. All were
// recorded on one H100 with PyTorch 2.11; examples/traces/README.md describes them.
#include <gtest/gtest.h>

#include "hw_specs/loader.hpp"
#include "validation/profiles/profile.hpp"

namespace roofcast::validation {
namespace {

Profile profile_of_example(const std::string& name) {
  const specs::Embedded& found = *specs::find_embedded("h100-sxm5");
  static const Gpu gpu = specs::load(
      {"h100-sxm5", std::string(found.text), "overlay", std::string(found.overlay_text), {}});
  std::string path = ROOFCAST_EXAMPLE_TRACES;
  path.append("/").append(name).append(".json.gz");
  return profile_of(read_trace(path), gpu);
}

const Mend* find_mend(const Profile& profile, std::string_view part) {
  for (const Mend& mend : profile.mends) {
    if (mend.what.find(part) != std::string::npos) return &mend;
  }
  return nullptr;
}

double products_s(const Profile& profile) {
  double sum_s = 0;
  for (const CallGroup& group : profile.groups) {
    if (group.does == Does::product) sum_s += group.measured_s();
  }
  return sum_s;
}

void expect_nothing_impossible(const Profile& profile) {
  for (const CallGroup& group : profile.groups) {
    EXPECT_FALSE(group.impossible()) << group.call.name;
  }
}

TEST(MeasuredMends, AttentionInOnePassTakesWhatItWasForecast) {
  const Profile apart = profile_of_example("attention_step");
  const Profile one_pass = profile_of_example("flash_step");
  ASSERT_FALSE(apart.mends.empty());
  const Mend& first = apart.mends.front();
  EXPECT_NE(first.what.find("one pass"), std::string::npos) << first.what;
  EXPECT_NEAR(first.total_after_s / one_pass.trace.busy_s, 1, 0.1);
  EXPECT_GT(apart.trace.busy_s, 4 * one_pass.trace.busy_s);
  EXPECT_EQ(find_mend(one_pass, "one pass"), nullptr);
  expect_nothing_impossible(apart);
  expect_nothing_impossible(one_pass);
}

TEST(MeasuredMends, ProductsInBf16TakeWhatTheyWereForecast) {
  const Profile single = profile_of_example("fp32_step");
  const Profile narrow = profile_of_example("flash_step");
  ASSERT_FALSE(single.mends.empty());
  const Mend& first = single.mends.front();
  EXPECT_NE(first.what.find("in bf16"), std::string::npos) << first.what;
  EXPECT_EQ(first.calls,
            11);  // of four layers: forward, and two backward but for the first's input
  EXPECT_NEAR((products_s(single) - first.saved_s) / products_s(narrow), 1, 0.1);
  expect_nothing_impossible(single);
}

// 2176 x 4096 x 1024 in tiles of 64 x 64: 2176 blocks, 528 at once. With 2112 rows, four whole
// waves, the same kernel took 370.4 us.
TEST(MeasuredMends, AFullLastWaveGivesAtMostWhatWasForecast) {
  const Profile profile = profile_of_example("fp32_product");
  const Mend* mend = find_mend(profile, "last waves");
  ASSERT_NE(mend, nullptr);
  const double in_whole_waves_s = 370.4e-6 * 2176 / 2112;
  EXPECT_LT(mend->total_after_s, in_whole_waves_s);
  EXPECT_NEAR(mend->total_after_s / in_whole_waves_s, 1, 0.1);
}

// Compiled, the kernels take 8.51 ms: more than elementwise chains are fused.
TEST(MeasuredMends, ChainsOfAModelGiveNoMoreThanCompilingIt) {
  const Profile eager = profile_of_example("llama_eager");
  const Profile compiled = profile_of_example("llama_compiled");
  const Mend* mend = find_mend(eager, "chains");
  ASSERT_NE(mend, nullptr);
  EXPECT_GT(mend->total_after_s, compiled.trace.busy_s);
  EXPECT_GT(mend->saved_s, 0.4 * (eager.trace.busy_s - compiled.trace.busy_s));
  for (const Profile* one : {&eager, &compiled}) {
    EXPECT_GT(one->recognized_s, 0.99 * one->trace.busy_s);
    EXPECT_GT(one->compared_s, 0.98 * one->trace.busy_s);
    EXPECT_NEAR(one->expected_s / one->compared_s, 1, 0.15);
    expect_nothing_impossible(*one);
  }
}

// A host that launches 1043 small kernels: the GPU waits for most of the time.
TEST(MeasuredMends, AStepThatWaitsForItsHostNeedsAGraphFirst) {
  const Profile profile = profile_of_example("resnet50_step");
  ASSERT_FALSE(profile.mends.empty());
  EXPECT_TRUE(profile.mends.front().saves_waiting);
  EXPECT_GT(profile.mends.front().saved_s, 0.7 * profile.trace.span_s);
  EXPECT_GT(profile.recognized_s, 0.9 * profile.trace.busy_s);
  expect_nothing_impossible(profile);
  // Convolutions have a limit and a place under the roofline.
  double bounded_s = 0;
  for (const CallGroup& group : profile.groups) {
    if (group.limit_s && group.place) bounded_s += group.measured_s();
  }
  EXPECT_GT(bounded_s, 0.3 * profile.trace.busy_s);
}

// Where mends change the same kernels the largest counts: together they leave some time.
TEST(MeasuredMends, TogetherSaveNoMoreThanThereIs) {
  for (const char* name : {"attention_step", "fp32_step", "fp32_product", "gpt2_step"}) {
    const Profile profile = profile_of_example(name);
    double largest_s = 0, sum_s = 0;
    for (const Mend& mend : profile.mends) {
      if (mend.saves_waiting) continue;
      largest_s = std::max(largest_s, mend.saved_s);
      sum_s += mend.saved_s;
      EXPECT_GE(mend.saved_s, 0.0005 * profile.trace.busy_s) << name;
    }
    const double together_s = saved_together_s(profile.mends);
    EXPECT_GE(together_s, largest_s * (1 - 1e-9)) << name;
    EXPECT_LE(together_s, sum_s * (1 + 1e-9)) << name;
    EXPECT_LT(together_s, profile.trace.busy_s) << name;
  }
}

}  // namespace
}  // namespace roofcast::validation
