// What the catalog says without a GPU: names, what is supported and why not.
#include "kernels/catalog.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

#include "model/libraries/gemm.hpp"
#include "tests/kernels/case.hpp"
#include "tests/kernels/settings.hpp"
#include "validation/runs/suite.hpp"

namespace roofcast::cuda {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Problem with_sizes(const KernelEntry& entry, std::initializer_list<std::int64_t> sizes) {
  Problem p = entry.configurations.front();
  std::copy(sizes.begin(), sizes.end(), p.values.begin());
  return p;
}

Problem typical(const KernelEntry& entry) {
  for (const std::string_view family : {"softmax.", "norm.", "reduce."}) {
    if (entry.name.starts_with(family)) return with_sizes(entry, {100, 1000});
  }
  if (entry.name.starts_with("attention.")) {
    return with_sizes(entry, {2, 8, 2, 1, 300, 64, 0, 0});
  }
  if (entry.name == "gemm.skinny") return with_sizes(entry, {8, 200, 304});
  return entry.name.starts_with("gemm.") ? with_sizes(entry, {100, 200, 300})
                                         : with_sizes(entry, {1000});
}

TEST(CatalogTest, NamesAreUniqueAndFound) {
  std::set<std::string_view> names;
  for (const std::span<const KernelEntry> list : {catalog(), baselines()}) {
    for (const KernelEntry& entry : list) {
      EXPECT_TRUE(names.insert(entry.name).second) << entry.name;
      EXPECT_EQ(find(entry.name), &entry);
    }
  }
  EXPECT_EQ(find("gemm.imaginary"), nullptr);
}

// Each configuration is supported in at least one type, with every candidate of its open settings.
TEST(CatalogTest, EveryConfigurationIsSupported) {
  for (const KernelEntry& entry : catalog()) {
    for (const Problem& configuration : entry.configurations) {
      Problem p = typical(entry);
      for (std::size_t i = 0; i < p.values.size(); ++i) {
        if (configuration.values[i] != 0) p.values[i] = configuration.values[i];
      }
      const bool supported = std::any_of(kAllDTypes.begin(), kAllDTypes.end(), [&](DType dtype) {
        p.dtype = dtype;
        const std::vector<Problem> ways = settled(entry.name, p);
        return !ways.empty() && std::all_of(ways.begin(), ways.end(), [&](const Problem& way) {
          return entry.unsupported(way).empty();
        });
      });
      EXPECT_TRUE(supported) << entry.name << " " << text(p);
    }
  }
}

TEST(CatalogTest, BaselinesTakeTheSameTensors) {
  for (const KernelEntry& entry : catalog()) {
    const KernelEntry* library = baseline(entry.name);
    if (library == nullptr) continue;
    const Problem p = typical(entry);
    EXPECT_THAT(library->unsupported(p), IsEmpty());
    ASSERT_EQ(library->tensors(p).inputs.size(), entry.tensors(p).inputs.size());
    for (std::size_t i = 0; i < entry.tensors(p).inputs.size(); ++i) {
      EXPECT_EQ(library->tensors(p).inputs[i].elements, entry.tensors(p).inputs[i].elements);
    }
  }
  EXPECT_EQ(baseline("stream.copy"), find("stream.memcpy"));
  EXPECT_EQ(baseline("gemm.library"), nullptr);
  EXPECT_EQ(baseline("stream.triad"), nullptr);
}

TEST(CatalogTest, AnUnsupportedTileNamesTheTilesThereAre) {
  const KernelEntry& tiled = *find("gemm.tiled");
  Problem p = typical(tiled);
  p[3] = 7;
  EXPECT_THAT(tiled.unsupported(p), AllOf(HasSubstr("32x32x32"), HasSubstr("7x32x32"),
                                          HasSubstr("tile_m x tile_n x tile_k")));
}

TEST(CatalogTest, AnUnsupportedTypeIsNamed) {
  for (const KernelEntry& entry : catalog()) {
    Problem p = typical(entry);
    p.dtype = DType::int8;
    EXPECT_THAT(entry.unsupported(p), HasSubstr("int8")) << entry.name;
  }
}

TEST(CatalogTest, TheLibrarysProductRefusesWhatItWouldNotMeasure) {
  const KernelEntry& library = *find("gemm.library");
  const Problem p = typical(library);
  const auto refusal = [&](std::size_t parameter, std::int64_t value) {
    Problem one = p;
    one[parameter] = value;
    return library.unsupported(one);
  };
  EXPECT_THAT(library.unsupported(p), IsEmpty());
  EXPECT_THAT(refusal(roofcast::gemm::kBatch, 2), HasSubstr("without a batch"));
  EXPECT_THAT(refusal(roofcast::gemm::kLayout, roofcast::gemm::kTN), HasSubstr("'layout'"));
  EXPECT_THAT(refusal(roofcast::gemm::kLda, 8192), HasSubstr("'lda'"));
  EXPECT_THAT(refusal(roofcast::gemm::kEpilogue, roofcast::gemm::kBias), HasSubstr("'epilogue'"));
}

TEST(CatalogTest, StreamsSayWhichThreadsAndLoadsTheyTake) {
  const KernelEntry& triad = *find("stream.triad");
  Problem p = typical(triad);
  p[1] = 100;
  EXPECT_THAT(triad.unsupported(p), HasSubstr("multiple of 32"));
  p[1] = 256, p[3] = 3;
  EXPECT_THAT(triad.unsupported(p), HasSubstr("loads 1, 2, 4 or 8"));
  p[3] = 4, p[0] = 0;
  EXPECT_THAT(triad.unsupported(p), HasSubstr("n must be"));
  p[0] = 8, p[2] = 4, p.dtype = DType::fp64;
  EXPECT_THAT(triad.unsupported(p), HasSubstr("vector_bytes"));
}

TEST(CatalogTest, AttentionSaysWhichShapesItTakes) {
  const KernelEntry& standard = *find("attention.standard");
  const auto refusal = [](const KernelEntry& entry, std::initializer_list<std::int64_t> sizes) {
    return entry.unsupported(with_sizes(entry, sizes));
  };
  EXPECT_THAT(refusal(standard, {2, 8, 2, 5, 9, 40, 1, 1}), IsEmpty());
  EXPECT_THAT(refusal(standard, {2, 8, 3, 5, 9, 64, 0, 0}), HasSubstr("3 does not divide 8"));
  EXPECT_THAT(refusal(standard, {2, 8, 8, 9, 5, 64, 0, 0}), IsEmpty());
  EXPECT_THAT(refusal(standard, {2, 8, 8, 9, 5, 64, 1, 0}), HasSubstr("first 4 queries no key"));
  EXPECT_THAT(refusal(standard, {2, 8, 8, 9, 9, 44, 0, 0}), HasSubstr("multiple of 8"));
  EXPECT_THAT(refusal(standard, {2, 8, 8, 9, 9, 264, 0, 0}), HasSubstr("from 8 to 256"));
  EXPECT_THAT(refusal(standard, {1 << 20, 4096, 0, 9, 9, 64, 0, 0}), HasSubstr("rows"));
  const KernelEntry& decode = *find("attention.decode");
  EXPECT_THAT(refusal(decode, {2, 8, 2, 4, 99, 64, 0, 0, 1}), IsEmpty());
  EXPECT_THAT(refusal(decode, {2, 8, 2, 5, 99, 64, 0, 0, 1}), HasSubstr("these are 20"));
  EXPECT_THAT(refusal(decode, {2, 8, 2, 4, 99, 64, 0, 1, 1}), HasSubstr("backward"));
  EXPECT_THAT(refusal(decode, {2, 8, 2, 4, 99, 64, 0, 0, 0}), HasSubstr("splits"));
}

TEST(CatalogTest, AttentionOfOnePartIsOneLaunch) {
  const KernelEntry& decode = *find("attention.decode");
  const Problem one = with_sizes(decode, {2, 8, 2, 4, 99, 64, 0, 0, 1});
  const Problem three = with_sizes(decode, {2, 8, 2, 4, 99, 64, 0, 0, 3});
  ASSERT_EQ(decode.launches(one).size(), 1U);
  ASSERT_EQ(decode.launches(three).size(), 2U);
  EXPECT_EQ(decode.launches(three).front().grid.x, 2U * 2U * 3U);
  EXPECT_EQ(decode.tensors(one).scratch.size(), 0U);
  EXPECT_EQ(decode.tensors(three).scratch.front().elements, 3U * 2 * 8 * 4 * 64);
}

// The error of zeros is 1 and that of poison infinite (data.hpp), so no tolerance may be near 1. At
// the sizes that are measured, not only at small ones: sums grow.
TEST(CatalogTest, ZerosAndPoisonFailEveryTolerance) {
  const validation::Suite suite = validation::find_suite("default");
  std::size_t checked = 0;
  for (const validation::SuiteCase& one : suite.cases) {
    const KernelEntry* entry = find(one.kernel);
    ASSERT_NE(entry, nullptr) << one.kernel;
    const Problem p = settled(one.kernel, one.problem).front();
    for (std::size_t i = 0; i < entry->tensors(p).outputs.size(); ++i, ++checked) {
      const double tolerance = entry->tolerance(p, i);
      EXPECT_GE(tolerance, 0);
      EXPECT_LT(tolerance, 0.125) << one.kernel << " " << text(p) << ", output " << i;
    }
  }
  EXPECT_GT(checked, suite.cases.size() / 2);
}

TEST(CatalogTest, TolerancesFollowTheTypeAndTheLengthOfSums) {
  const auto of = [](std::string_view name, DType dtype, std::initializer_list<std::int64_t> sizes,
                     std::size_t output = 0) {
    Problem p = with_sizes(*find(name), sizes);
    p.dtype = dtype;
    return find(name)->tolerance(p, output);
  };
  // u·√(6·k) of a running sum, and two roundings beside it: k = 4096 gives 158.8 u.
  EXPECT_NEAR(of("gemm.naive", DType::fp32, {4096, 4096, 4096}), 158.8 * 0x1p-24, 0.1 * 0x1p-24);
  // 4096 terms on 32 threads: 128 in a chain, then 5 levels, u·√(6·128 + 12·5) = 28.8 u; 32.2 u of
  // exponentials.
  EXPECT_NEAR(of("softmax.online", DType::fp32, {64, 4096}), 61.0 * 0x1p-24, 0.1 * 0x1p-24);
  // A narrow result adds half a unit of its last place; statistics stay fp32.
  EXPECT_NEAR(of("softmax.online", DType::bf16, {64, 4096}), 0x1p-8, 0x1p-16);
  EXPECT_LT(of("norm.layernorm", DType::bf16, {64, 4096}, 2), 1e-5);
  EXPECT_EQ(of("transpose.padded", DType::bf16, {64, 4096}), 0);
  // P is rounded: 6/√3 of 2^-8, relative to a row's largest of 128 elements, which is 0.917
  // deviations or more in all of 64 groups of rows. The result is rounded: 2^-8. Scores in bf16 make
  // the error of P √6 times as large.
  EXPECT_NEAR(of("attention.decode", DType::bf16, {4, 16, 16, 16, 4096, 128, 0, 0}),
              (2 * std::sqrt(3.0) / 0.917 + 1) * 0x1p-8, 1e-4);
}

TEST(CatalogTest, BlocksCoverTheElements) {
  const KernelEntry& copy = *find("stream.copy");
  Problem p = copy.configurations.front();
  const std::int64_t chunk = p[1] * (p[2] / 4) * p[3];
  for (const std::int64_t n : {std::int64_t{1}, chunk, chunk + 1, 10 * chunk - 1}) {
    p[0] = n;
    EXPECT_EQ(copy.launches(p).front().grid.x, (n + chunk - 1) / chunk);
  }
}

TEST(CatalogTest, TheUnfusedGeluIsNineLaunches) {
  const KernelEntry& unfused = *find("elementwise.gelu.unfused");
  EXPECT_EQ(unfused.launches(typical(unfused)).size(), 9U);
  EXPECT_EQ(unfused.tensors(typical(unfused)).scratch.size(), 2U);
  const KernelEntry& fused = *find("elementwise.gelu.fused");
  EXPECT_EQ(fused.launches(typical(fused)).size(), 1U);
}

}  // namespace
}  // namespace roofcast::cuda
