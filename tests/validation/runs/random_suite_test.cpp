#include "validation/runs/random_suite.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>

#include "hw_specs/loader.hpp"
#include "model/predict.hpp"
#include "model/types/parameter_text.hpp"
#include "tests/framework_kernels.hpp"
#include "tests/model/devices.hpp"
#include "validation/runs/problem_text.hpp"
#include "validation/runs/run.hpp"

namespace roofcast::validation {
namespace {

using ::testing::HasSubstr;

Gpu shipped(std::string_view name) {
  const specs::Embedded* embedded = specs::find_embedded(name);
  return specs::load({.file = std::string(embedded->name),
                      .text = std::string(embedded->text),
                      .overlay_file = {},
                      .overlay_text = {},
                      .overrides = {}});
}

RandomSuite shipped_suite() {
  return parse_random_suite("random.json", std::string(embedded_suite("random").text));
}

RandomSuite suite_of(const std::string& groups) {
  return parse_random_suite("r.json", R"({"suite":"r","draw":[)" + groups + "]}");
}

std::string text_of(const SuiteCase& item) {
  return item.kernel + " " + problem_text(item.kernel, item.problem) + " " +
         std::string(name(*item.cache));
}

std::vector<std::string> texts_of(const Suite& suite) {
  std::vector<std::string> texts;
  for (const SuiteCase& item : suite.cases) texts.push_back(text_of(item));
  return texts;
}

// Whether a row or an array ends off 16 bytes, by the parameters along which it is contiguous.
bool breaks_alignment(const SuiteCase& item) {
  const std::set<std::string_view> contiguous =
      item.kernel.starts_with("gemm")        ? std::set<std::string_view>{"n", "k"}
      : item.kernel == "attention.decode"    ? std::set<std::string_view>{"seq_kv"}
      : item.kernel.starts_with("attention") ? std::set<std::string_view>{"seq_q", "seq_kv"}
      : item.kernel.starts_with("transpose") ? std::set<std::string_view>{"rows", "cols"}
                                             : std::set<std::string_view>{"n", "cols", "offset"};
  const auto element = static_cast<std::int64_t>(size_bytes(item.problem.dtype));
  std::size_t i = 0;
  bool breaks = false;
  for (const Parameter& parameter : find_kernel(item.kernel).parameters()) {
    breaks |= contiguous.contains(parameter.name) && item.problem[i] * element % 16 != 0;
    ++i;
  }
  return breaks;
}

TEST(RandomSuite, FamiliesHaveTheSameShareAndHalfTheirCasesBreakTheAlignment) {
  const Suite suite = draw_suite(shipped_suite(), 1, 660, shipped("h100-sxm5"));
  ASSERT_EQ(suite.cases.size(), 660U);
  EXPECT_EQ(suite.seed, 1);
  EXPECT_EQ(suite.name, "random");
  std::map<std::string, int> cases;
  std::map<std::string, int> broken;
  std::int64_t position = 0;
  for (const SuiteCase& item : suite.cases) {
    EXPECT_EQ(item.position, position++);
    ++cases[family_of(item.kernel)];
    // A shuffled gather of a whole number of windows is aligned by its window.
    if (breaks_alignment(item)) ++broken[family_of(item.kernel)];
  }
  std::set<std::string> families;
  for (const KernelFamily& family : catalog()) {
    const bool runs = std::any_of(
        family.variants.begin(), family.variants.end(),
        [](const KernelModel& kernel) { return !testing::is_of_framework(kernel.name); });
    if (runs) families.insert(family_of(family.name));
  }
  EXPECT_EQ(cases.size(), families.size());
  for (const auto& [family, count] : cases) {
    EXPECT_EQ(count, 60) << family;
    EXPECT_NEAR(broken[family], 30, family == "access" ? 5 : 0) << family;
  }
}

// Settings that stay at one value: one tile is compiled; rows of an expression (cols) are forecast
// and not measured.
const std::set<std::string> kCompiledOnce = {
    "gemm.coarsened_1d tile_n", "gemm.coarsened_2d tile_k", "gemm.vectorized thread_n",
    "elementwise.expr.unfused cols", "elementwise.expr.fused cols"};

// Choices of which a kernel has a forecast and no CUDA code.
const std::set<std::string> kForecastOnly = {"attention.standard passes mask_dropout",
                                             "attention.decode pass backward"};

TEST(RandomSuite, EveryKernelTypeValueAndCacheStateOccurs) {
  const Suite suite = draw_suite(shipped_suite(), 2, 35'200, shipped("h200-sxm"));
  std::set<std::string> seen;
  std::map<std::string, std::set<std::int64_t>> values;
  for (const SuiteCase& item : suite.cases) {
    const KernelRef kernel = find_kernel(item.kernel);
    seen.insert(item.kernel + " " + std::string(name(item.problem.dtype)));
    seen.insert(item.kernel + " " + std::string(name(*item.cache)));
    std::size_t i = 0;
    for (const Parameter& parameter : kernel.parameters()) {
      const std::string key = item.kernel + " " + std::string(parameter.name);
      if (is_named(parameter))
        seen.insert(key + " " + quoted_value_text(parameter, item.problem, i));
      values[key].insert(item.problem[i++]);
    }
  }
  const auto expect = [&seen](const std::string& what) {
    EXPECT_TRUE(seen.contains(what)) << what;
  };
  for (const KernelFamily& family : catalog()) {
    for (const KernelModel& kernel : family.variants) {
      if (testing::is_of_framework(kernel.name)) continue;
      const std::string prefix = std::string(kernel.name) + " ";
      for (const DType dtype : kernel.dtypes) expect(prefix + std::string(name(dtype)));
      for (const CacheState cache : kMeasuredCacheStates) expect(prefix + std::string(name(cache)));
      for (const Parameter& parameter : kernel.parameters) {
        for (const std::string_view choice : parameter.choices) {
          const std::string one = prefix + std::string(parameter.name) + " " + std::string(choice);
          if (!kForecastOnly.contains(one)) expect(one);
        }
        const std::string key = prefix + std::string(parameter.name);
        const bool fixed = kCompiledOnce.contains(key) ||
                           (parameter.name == "vector_bytes" && key.starts_with("elementwise") &&
                            !key.starts_with("elementwise.expr"));
        if (parameter.is_text || !parameter.choices.empty() || fixed) continue;
        EXPECT_GE(values[key].size(), 2U) << key;
      }
    }
  }
  for (const RandomGroup& group : shipped_suite().groups) {
    std::vector<RandomParameter> all = group.parameters;
    for (const auto& set : group.together) all.insert(all.end(), set.begin(), set.end());
    for (const RandomParameter& one : all) {
      const Parameter& parameter = group.kernel.parameters()[one.position];
      const std::string key =
          std::string(group.kernel.kernel->name) + " " + std::string(parameter.name);
      for (const Value& value : one.values) {
        EXPECT_TRUE(values[key].contains(value.number)) << key << " " << value.number;
        if (parameter.is_text) expect(key + " \"" + std::string(value.text.view()) + "\"");
      }
    }
  }
}

TEST(RandomSuite, WhatNoGpuRefusesOrCannotHoldIsDrawn) {
  const RandomSuite random = shipped_suite();
  int gpus = 0;
  for (const specs::Embedded& embedded : specs::embedded()) {
    const Gpu gpu = shipped(embedded.name);
    if (!gpu.occupancy || !gpu.sm_count) {
      EXPECT_THROW((void)draw_suite(random, 3, 20, gpu), InputError) << gpu.name;
      continue;
    }
    ++gpus;
    const Suite suite = draw_suite(random, 3, 300, gpu);
    std::set<std::string> once;
    for (const SuiteCase& item : suite.cases) {
      Problem problem = item.problem;
      const KernelRef kernel = find_kernel(item.kernel);
      EXPECT_NO_THROW(check(kernel, problem, ~0U)) << text_of(item);
      EXPECT_EQ(problem, item.problem);
      const Prediction forecast = predict(kernel, item.problem, gpu);
      ASSERT_TRUE(forecast.time.has_value()) << text_of(item);
      EXPECT_LE(forecast.time->expected_s, kLongestDrawn_s) << gpu.name << " " << text_of(item);
      EXPECT_LE(forecast.work.compulsory.total_bytes(), kMostDrawnBytes) << text_of(item);
      EXPECT_LE(forecast.work.compulsory.total_bytes(),
                *gpu.memory.dram_bytes * kMostDrawnShare * (1 + 1e-12));
      for (const std::string& note : forecast.notes) {
        EXPECT_THAT(note, ::testing::Not(HasSubstr("validated from"))) << text_of(item);
      }
      EXPECT_TRUE(once.insert(text_of(item)).second) << text_of(item);
    }
  }
  EXPECT_GE(gpus, 10);
}

TEST(RandomSuite, ShapesSpreadOverTheirRange) {
  const Suite suite = draw_suite(suite_of(R"({"kernel":"stream.copy","dtype":"fp32",
      "n":{"from":65536,"to":16777216},"aligned":"n"})"),
                                 5, 2000, testing::hopper_like());
  std::array<int, 8> octaves{};  // 2^16 … 2^24
  for (const SuiteCase& item : suite.cases) {
    ++octaves[static_cast<std::size_t>(std::log2(static_cast<double>(item.problem[0])) - 16)];
  }
  for (const int count : octaves) EXPECT_NEAR(count, 250, 70);
}

TEST(RandomSuite, ASeedIsAlwaysTheSame) {
  const RandomSuite random = shipped_suite();
  const Gpu gpu = shipped("h200-sxm");
  const auto first = texts_of(draw_suite(random, 9, 200, gpu));
  EXPECT_EQ(first, texts_of(draw_suite(random, 9, 200, gpu)));
  const auto other = texts_of(draw_suite(random, 10, 200, gpu));
  EXPECT_NE(first, other);
  // More cases are the same ones and then others.
  const auto more = texts_of(draw_suite(random, 9, 300, gpu));
  EXPECT_TRUE(std::equal(first.begin(), first.end(), more.begin()));
}

TEST(RandomSuite, AnotherGpuDrawsOtherCasesOnlyWhereItRefuses) {
  const RandomSuite random = shipped_suite();
  const Gpu here = shipped("h200-sxm");
  Gpu without = here;  // no clusters: nothing of softmax.cluster
  without.features.cluster_blocks_max.reset();
  without.features.cluster_blocks_portable.reset();
  const auto a = draw_suite(random, 4, 400, here);
  const auto b = draw_suite(random, 4, 400, without);
  std::size_t others = 0;
  for (std::size_t i = 0; i < a.cases.size(); ++i) {
    if (text_of(a.cases[i]) == text_of(b.cases[i])) continue;
    ++others;
    EXPECT_THROW((void)predict(find_kernel(a.cases[i].kernel), a.cases[i].problem, without),
                 InputError)
        << text_of(a.cases[i]);
  }
  EXPECT_GT(others, 0U);
  EXPECT_LT(others, 60U);
}

TEST(RandomSuite, MultiplesAndSettings) {
  const Suite suite = draw_suite(suite_of(R"({"kernel":"access.strided","dtype":["fp32","fp16"],
      "n":{"from":4096,"to":65536,"multiple_of":"width"},
      "stride":{"from":1,"to":64,"multiple_of":"width"},"width":[1,2,4],"aligned":"n",
      "cache":"cold"})"),
                                 1, 300, testing::hopper_like());
  for (const SuiteCase& item : suite.cases) {
    EXPECT_EQ(item.problem[0] % item.problem[2], 0);
    EXPECT_EQ(item.problem[1] % item.problem[2], 0);
    EXPECT_EQ(item.cache, CacheState::cold);
  }
  // Half of the cases leave the settings to the kernel.
  const Suite copies = draw_suite(suite_of(R"({"kernel":"stream.copy","dtype":"fp32",
      "n":{"from":65536,"to":16777216},"threads":[128,512],"loads":[2,4],"aligned":"n"})"),
                                  1, 400, testing::hopper_like());
  const auto untouched = std::count_if(copies.cases.begin(), copies.cases.end(), [](const auto& c) {
    return c.problem[1] == 256 && c.problem[3] == 1;
  });
  const auto both = std::count_if(copies.cases.begin(), copies.cases.end(), [](const auto& c) {
    return c.problem[1] != 256 && c.problem[3] != 1;
  });
  EXPECT_EQ(untouched + both, 400);
  EXPECT_NEAR(static_cast<double>(untouched), 200, 40);
}

TEST(RandomSuite, SaysWhereNothingIsLeft) {
  const RandomSuite few = suite_of(R"({"kernel":"stream.copy","dtype":"fp32","n":[1,2],
      "cache":"cold","aligned":"n"})");
  try {
    (void)draw_suite(few, 1, 5, testing::hopper_like());
    FAIL();
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), HasSubstr("stream"));
    EXPECT_THAT(error.what(), HasSubstr("Mend: "));
  }
}

struct Wrong {
  const char* group;
  const char* says;
};
class RandomGrammar : public ::testing::TestWithParam<Wrong> {};

TEST_P(RandomGrammar, IsRefusedWithItsPlace) {
  try {
    (void)suite_of(GetParam().group);
    FAIL() << GetParam().group;
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), HasSubstr("r.json"));
    EXPECT_THAT(error.what(), HasSubstr(GetParam().says));
  }
}

INSTANTIATE_TEST_SUITE_P(
    Each, RandomGrammar,
    ::testing::Values(
        Wrong{R"({"kernel":"stream.copy","dtype":"fp32"})", "a value of \"n\""},
        Wrong{R"({"kernel":"stream.copy","dtype":"fp32","n":{"from":0,"to":4}})", "/draw/0/n/from"},
        Wrong{R"({"kernel":"stream.copy","dtype":"fp32","n":{"from":5,"to":4}})", "/draw/0/n/to"},
        Wrong{R"({"kernel":"stream.copy","dtype":"fp32","n":{"from":1,"to":4,"by":2}})", "by"},
        Wrong{R"({"kernel":"stream.copy","dtype":"fp32","n":[]})", "at least one value"},
        Wrong{R"({"kernel":"stream.copy","dtype":[],"n":8})", "at least one type"},
        Wrong{R"({"kernel":"stream.copy","dtype":"fp32","n":8,"cache":"lukewarm"})", "cold"},
        Wrong{R"({"kernel":"stream.copy","dtype":"fp32","n":8,"cache":[]})", "cold"},
        Wrong{R"({"kernel":"stream.copy","dtype":"fp32","n":8,"aligned":"cols"})", "cols"},
        Wrong{R"({"kernel":"stream.copy","dtype":"fp32",
                  "n":{"from":1,"to":9,"multiple_of":"n"}})",
              "another parameter"},
        Wrong{R"({"kernel":"stream","dtype":"fp32","n":8})", "variant"},
        Wrong{R"({"kernel":"stream.copy","dtype":"fp32","m":8})", "a parameter of stream.copy"}));

TEST(RandomSuite, ANamedSuiteIsDrawnOrNot) {
  EXPECT_TRUE(is_random_suite("random.json", std::string(embedded_suite("random").text)));
  EXPECT_FALSE(is_random_suite("quick.json", std::string(embedded_suite("quick").text)));
  EXPECT_THROW((void)find_suite("random"), InputError);
}

}  // namespace
}  // namespace roofcast::validation
