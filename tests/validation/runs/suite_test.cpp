#include "validation/runs/suite.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "hw_specs/text_file.hpp"
#include "model/predict.hpp"
#include "tests/model/devices.hpp"
#include "validation/runs/random_suite.hpp"
#include "validation/runs/run.hpp"

namespace roofcast::validation {
namespace {

using ::testing::HasSubstr;
using RunData = Run;  // inside a test Run is a member of its base class

TEST(Suites, AllParseAndEveryCaseHasAForecast) {
  ASSERT_FALSE(embedded_suites().empty());
  Gpu gpu = testing::hopper_like();
  for (const DType type : {DType::tf32, DType::bf16, DType::fp16, DType::fp8, DType::int8}) {
    gpu.sm.tensor_flop_per_clk[type] = 4096;
  }
  for (const EmbeddedSuite& embedded : embedded_suites()) {
    if (is_random_suite(std::string(embedded.name), std::string(embedded.text))) continue;
    const Suite suite = find_suite(embedded.name);
    EXPECT_EQ(suite.name, embedded.name);
    EXPECT_FALSE(suite.description.empty());
    for (const SuiteCase& item : suite.cases) {
      Problem problem = item.problem;
      EXPECT_NO_THROW(check(find_kernel(item.kernel), problem, ~0U)) << item.kernel;
      EXPECT_TRUE(predict(find_kernel(item.kernel), problem, gpu).time.has_value()) << item.kernel;
    }
  }
}

// Whether both kernels share a validated range. stream.null does nothing and has no size.
bool shares(const KernelRef& kernel, const KernelRef& other) {
  if (other.kernel->name == "stream.null") return false;
  if (!kernel.kernel->validated.empty()) return other.kernel == kernel.kernel;
  return other.kernel->validated.empty() &&
         other.family->validated.data() == kernel.family->validated.data();
}

// The least and the greatest value that the random suite draws of the parameter.
std::vector<std::int64_t> drawn_ends(const RandomSuite& random, const KernelRef& ref,
                                     std::size_t position) {
  std::vector<std::int64_t> ends;
  for (const RandomGroup& group : random.groups) {
    if (!shares(ref, group.kernel)) continue;
    for (const RandomParameter& one : group.parameters) {
      if (one.position == position && one.values.empty()) {
        ends.insert(ends.end(), {one.from, one.to});
      }
    }
  }
  return ends;
}

// The least and the greatest value of each parameter. A library's forecasts are held against
// published tables too, whose shapes go further.
TEST(Suites, ValidatedRangesAreWhatTheSweepsMeasure) {
  const Suite all = find_suite("default");
  const RandomSuite random =
      parse_random_suite("random.json", std::string(embedded_suite("random").text));
  for (const KernelFamily& family : catalog()) {
    for (const KernelModel& kernel : family.variants) {
      const KernelRef ref{&family, &kernel};
      if (kernel.name.ends_with(".library")) continue;
      for (const ValidatedRange& range :
           kernel.validated.empty() ? family.validated : kernel.validated) {
        std::vector<std::int64_t> measured = drawn_ends(random, ref, range.parameter);
        for (const SuiteCase& item : all.cases) {
          if (shares(ref, find_kernel(item.kernel))) {
            measured.push_back(item.problem[range.parameter]);
          }
        }
        if (measured.empty()) continue;
        const auto [least, greatest] = std::minmax_element(measured.begin(), measured.end());
        const auto parameter = kernel.parameters[range.parameter].name;
        EXPECT_EQ(range.from, *least) << kernel.name << " " << parameter;
        EXPECT_EQ(range.to, *greatest) << kernel.name << " " << parameter;
      }
    }
  }
}

TEST(Suites, DefaultHoldsTheOthers) {
  const Suite all = find_suite("default");
  for (const char* part : {"stream", "elementwise", "gemm"}) {
    for (const SuiteCase& item : find_suite(part).cases) {
      // A part may leave the cache state open where the whole suite names it.
      EXPECT_TRUE(std::any_of(all.cases.begin(), all.cases.end(),
                              [&](const SuiteCase& other) {
                                return other.kernel == item.kernel &&
                                       other.problem == item.problem &&
                                       (other.cache == item.cache || !item.cache);
                              }))
          << part << " " << item.kernel;
    }
  }
  for (std::size_t i = 0; i < all.cases.size(); ++i) {
    EXPECT_EQ(std::count(all.cases.begin(), all.cases.end(), all.cases[i]), 1) << i;
  }
}

TEST(Suites, AnUnknownNameListsTheKnown) {
  try {
    (void)find_suite("defualt");
    FAIL();
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), HasSubstr("default"));
  }
}

std::vector<SuiteCase> cases_of(const std::string& group) {
  return parse_suite("s.json", R"({"suite":"s","groups":[)" + group + "]}").cases;
}

TEST(SuiteGrammar, ExpandsEveryCombination) {
  const auto cases = cases_of(R"({"kernel":["gemm.naive","gemm.tiled"],"dtype":"fp32",
      "m":[64,128],"n":"=m","k":{"from":8,"to":70,"times":2}})");
  EXPECT_EQ(cases.size(), 2U * 2U * 4U);  // k = 8, 16, 32, 64
  for (const SuiteCase& item : cases) {
    EXPECT_EQ(item.problem[0], item.problem[1]);
    EXPECT_FALSE(item.cache.has_value());
  }
  EXPECT_EQ(cases[0].kernel, "gemm.naive");
  EXPECT_EQ(cases.back().problem[2], 64);
}

TEST(SuiteGrammar, TogetherBindsValues) {
  const auto cases = cases_of(R"({"kernel":"gemm.tiled","dtype":"fp32","k":[1,2],"n":"=m",
      "together":[{"m":3},{"m":5,"n":7}]})");
  ASSERT_EQ(cases.size(), 4U);
  EXPECT_EQ(cases[0].problem[1], 3);  // follows m
  EXPECT_EQ(cases[2].problem[0], 5);
  EXPECT_EQ(cases[2].problem[1], 7);  // given in `together`: no longer follows
}

TEST(SuiteGrammar, PlusIncludesItsEnd) {
  const auto cases = cases_of(R"({"kernel":"stream.copy","dtype":"fp32",
      "n":{"from":8,"to":24,"plus":8},"cache":["cold","steady"]})");
  ASSERT_EQ(cases.size(), 6U);
  EXPECT_EQ(cases.back().problem[0], 24);
  EXPECT_EQ(cases[1].cache, CacheState::steady);
}

TEST(SuiteGrammar, TheSameCaseOnce) {
  const std::string group = R"({"kernel":"stream.copy","dtype":"fp32","n":[8,8]})";
  EXPECT_EQ(cases_of(group + "," + group).size(), 1U);
}

TEST(SuiteGrammar, ANamedCacheStateAnswersAnOpenOneAnywhere) {
  const auto group = [](const std::string& cache) {
    return R"({"kernel":"stream.copy","dtype":"fp32","n":8)" + cache + "}";
  };
  const std::string both = R"(,"cache":["cold","steady"])";
  for (const std::string& groups : {group("") + "," + group(both), group(both) + "," + group("")}) {
    const auto cases = cases_of(groups);
    ASSERT_EQ(cases.size(), 2U) << groups;
    EXPECT_EQ(cases[0].cache, CacheState::cold);
    EXPECT_EQ(cases[1].cache, CacheState::steady);
    EXPECT_EQ(cases[0].position, 0);
    EXPECT_EQ(cases[1].position, 1);
  }
}

TEST(Suites, NoProblemIsLeftOpenAndNamed) {
  for (const EmbeddedSuite& embedded : embedded_suites()) {
    if (is_random_suite(std::string(embedded.name), std::string(embedded.text))) continue;
    const Suite suite = find_suite(embedded.name);
    for (const SuiteCase& open : suite.cases) {
      if (open.cache) continue;
      EXPECT_EQ(std::count_if(suite.cases.begin(), suite.cases.end(),
                              [&](const SuiteCase& other) {
                                return other.kernel == open.kernel && other.problem == open.problem;
                              }),
                1)
          << embedded.name << " " << open.kernel;
    }
  }
}

TEST(SuiteGrammar, RangesEndAtTheLargestInteger) {
  const std::string largest = "9223372036854775807";
  EXPECT_THROW((void)cases_of(R"({"kernel":"stream.copy","dtype":"fp32","n":{"from":)" + largest +
                              R"(,"to":)" + largest + R"(,"plus":8}})"),
               InputError);  // n is too large for the kernel, and the step beyond it overflows none
  EXPECT_THROW((void)cases_of(R"({"kernel":"stream.copy","dtype":"fp32","n":{"from":)" + largest +
                              R"(,"to":)" + largest + R"(,"times":3}})"),
               InputError);
}

TEST(SuiteGrammar, TooManyCasesAreRefusedBeforeTheyFillMemory) {
  std::string many = "[1";
  for (int i = 2; i <= 9000; ++i) many += "," + std::to_string(i);
  many += "]";
  const std::string sizes = R"("m":)" + many + R"(,"n":)" + many + R"(,"k":)" + many;
  EXPECT_THROW((void)cases_of(R"({"kernel":"gemm.tiled","dtype":"fp32",)" + sizes + "}"),
               InputError);
  std::string kernels = R"(["stream.copy")";  // more than fit, though few differ
  for (int i = 0; i < 60; ++i) kernels += R"(,"stream.copy")";
  EXPECT_THROW((void)cases_of(R"({"kernel":)" + kernels + R"(],"dtype":"fp32","n":)" + many + "}"),
               InputError);
}

TEST(SuiteGrammar, ManyGroupsOfNothingAreRefusedToo) {
  std::string kernels = R"(["stream.copy")";
  std::string shapes = R"([{"n":[]})";
  for (int i = 0; i < 1000; ++i) {
    kernels += R"(,"stream.copy")";
    shapes += R"(,{"n":[]})";
  }
  const std::string group =
      R"({"dtype":[],"kernel":)" + kernels + R"(],"together":)" + shapes + "]}";
  try {
    (void)cases_of(group);
    FAIL() << "accepted";
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), HasSubstr("at most 15000 cases"));
  }
}

TEST(SuiteGrammar, JustAsManyAsMayBe) {
  EXPECT_EQ(cases_of(R"({"kernel":["stream.copy","stream.scale","stream.add"],"dtype":"fp32",
      "n":{"from":1,"to":2500,"plus":1},"cache":["cold","steady"]})")
                .size(),
            kMostCases);
}

TEST(SuiteGrammar, NestedDeepIsRefused) {
  EXPECT_THROW((void)parse_suite("s.json", std::string(60'000, '[')), InputError);
}

TEST(SuiteGrammar, ChoicesAndTextsAreGivenByName) {
  const auto choices = cases_of(R"({"kernel":"access.gather","dtype":"fp32","n":1024,
      "window":1024,"distribution":["uniform","shuffled"]})");
  ASSERT_EQ(choices.size(), 2U);
  EXPECT_EQ(choices[0].problem[2], 1);
  EXPECT_EQ(choices[1].problem[2], 0);
  const auto texts = cases_of(R"({"kernel":"elementwise.expr.fused","dtype":"fp32","n":[8,16],
      "expression":["a*b+c","=x"]})");
  ASSERT_EQ(texts.size(), 4U);
  EXPECT_EQ(texts[0].problem.text.view(), "a*b+c");
  EXPECT_EQ(texts[3].problem.text.view(), "=x");
}

struct BadSuite {
  const char* group;
  const char* pointer;
  const char* says;
};

class BadSuites : public ::testing::TestWithParam<BadSuite> {};

TEST_P(BadSuites, AreRefusedWithPointerAndMend) {
  try {
    (void)cases_of(GetParam().group);
    FAIL() << "accepted";
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), HasSubstr(std::string("s.json: at ") + GetParam().pointer));
    EXPECT_THAT(error.what(), HasSubstr(GetParam().says));
    EXPECT_THAT(error.what(), HasSubstr("Mend: "));
  }
}

INSTANTIATE_TEST_SUITE_P(
    Table, BadSuites,
    ::testing::Values(
        BadSuite{R"({"kernel":"stream.cpy","dtype":"fp32","n":1})",
                 "/groups/0/kernel:", "stream.copy"},
        BadSuite{R"({"kernel":"stream","dtype":"fp32","n":1})", "/groups/0/kernel:", "a variant"},
        BadSuite{R"({"kernel":"stream.copy","n":1})", "/groups/0:", "\"dtype\""},
        BadSuite{R"({"kernel":"stream.copy","dtype":"fp33","n":1})", "/groups/0/dtype:", "type"},
        BadSuite{R"({"kernel":"stream.copy","dtype":"fp32"})", "/groups/0:", "n"},
        BadSuite{R"({"kernel":"stream.copy","dtype":"fp32","n":0})", "/groups/0:", "n is 0"},
        BadSuite{R"({"kernel":"stream.copy","dtype":"fp32","m":1})", "/groups/0/m:", "remove"},
        BadSuite{R"({"kernel":"stream.copy","dtype":"fp32","n":"=q"})", "/groups/0/n:", "remove"},
        BadSuite{R"({"kernel":"access.gather","dtype":"fp32","n":8,"window":8,
                     "distribution":["shuffled","unifrm"]})",
                 "/groups/0/distribution/1:", "shuffled or uniform"},
        BadSuite{R"({"kernel":"access.gather","dtype":"fp32","n":8,"window":8,"distribution":0})",
                 "/groups/0/distribution:", "shuffled or uniform"},
        BadSuite{R"({"kernel":"access.gather","dtype":"fp32","n":"=distribution","window":8,
                     "distribution":"uniform"})",
                 "/groups/0/n:", "numbers"},
        BadSuite{R"({"kernel":"stream.copy","dtype":"fp32","n":1.5})", "/groups/0/n:", "integer"},
        BadSuite{R"({"kernel":"stream.copy","dtype":"fp32","n":{"from":1,"to":9}})",
                 "/groups/0/n:", "times"},
        BadSuite{R"({"kernel":"stream.copy","dtype":"fp32","n":{"from":1,"to":9,"times":1}})",
                 "/groups/0/n/times:", "upwards"},
        BadSuite{R"({"kernel":"stream.copy","dtype":"fp32","n":{"from":9,"to":1,"plus":1}})",
                 "/groups/0/n:", "exchange"},
        BadSuite{R"({"kernel":"stream.copy","dtype":"fp32","n":{"from":1,"to":99999,"plus":1}})",
                 "/groups/0/n:", "10000"},
        BadSuite{R"({"kernel":"stream.copy","dtype":"fp32","n":1,"cache":"hot"})",
                 "/groups/0/cache:", "cold"}));

// A whole suite's cases, each as long as in the run file with the longest ones.
TEST(SuiteGrammar, ARunFileHoldsTheCasesOfAnySuite) {
  std::uintmax_t longest = 0;
  for (const auto& entry : std::filesystem::directory_iterator(ROOFCAST_MEASURED_DIR)) {
    const std::string path = entry.path().string();
    if (!path.ends_with(".json") || path.find("microbench") != std::string::npos) continue;
    if (path.find("memory-study") != std::string::npos) continue;
    const RunData run = parse_run(path, specs::read_text(path));
    const std::size_t held = run.cases.size() + run.failures.size();
    if (held > 0) longest = std::max(longest, std::filesystem::file_size(path) / held);
  }
  ASSERT_GT(longest, 1000U);
  EXPECT_LT(longest * kMostCases, specs::kMostFileBytes);
}

TEST(SuiteGrammar, IncludesAndRefusesUnknownOnes) {
  EXPECT_EQ(parse_suite("f", R"({"suite":"x","include":["stream"]})").cases.size(),
            find_suite("stream").cases.size());
  EXPECT_THROW((void)parse_suite("f", R"({"suite":"x","include":["nothing"]})"), InputError);
  EXPECT_THROW((void)parse_suite("f", R"({"suite":"x"})"), InputError);
  EXPECT_THROW((void)parse_suite("f", R"({"suite":"x","gruops":[]})"), InputError);
}

}  // namespace
}  // namespace roofcast::validation
