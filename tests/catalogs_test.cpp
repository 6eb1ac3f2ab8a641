// The two catalogs against each other: model/catalog.hpp says what each kernel does,
// kernels/catalog.hpp runs it. Needs CUDA to build and no GPU to run.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "hw_specs/loader.hpp"
#include "kernels/catalog.hpp"
#include "model/counting/totals.hpp"
#include "model/kernels/attention/attention.hpp"
#include "model/roofcast.hpp"
#include "tests/framework_kernels.hpp"
#include "validation/runs/problem_text.hpp"
#include "validation/runs/random_suite.hpp"

namespace roofcast {
namespace {

Gpu any_gpu() {
  const specs::Embedded* embedded = specs::find_embedded("h200-sxm");
  return specs::load({.file = std::string(embedded->name),
                      .text = std::string(embedded->text),
                      .overlay_file = {},
                      .overlay_text = {},
                      .overrides = {}});
}

std::set<std::string_view> modelled() {
  std::set<std::string_view> names;
  for (const KernelFamily& family : catalog()) {
    for (const KernelModel& kernel : family.variants) names.insert(kernel.name);
  }
  return names;
}

// Sizes that fill no tile and no vector exactly, and the model's defaults for the rest.
Problem ragged(const KernelRef& kernel, DType type) {
  Problem problem{.dtype = type, .values = {}};
  unsigned given = 0;
  for (std::size_t i = 0; i < kernel.parameters().size(); ++i) {
    if (kernel.parameters()[i].fallback) continue;
    if (kernel.parameters()[i].is_text) {
      problem.text = Text("x*sigmoid(x)");
      given |= 1U << i;
      continue;
    }
    problem[i] =
        std::min(1001 + 100 * static_cast<std::int64_t>(i), kernel.parameters()[i].maximum);
    given |= 1U << i;
  }
  // gemm.skinny takes few rows, attention.decode few queries.
  if (kernel.kernel->name == "gemm.skinny") problem[0] = 41;
  if (kernel.kernel->name == "attention.decode") problem[attention::kSeqQ] = 3;
  check(kernel, problem, given);
  return problem;
}

TEST(Catalogs, EveryModelledKernelCanBeRun) {
  for (const std::string_view name : modelled()) {
    if (testing::is_of_framework(name)) continue;
    EXPECT_NE(cuda::find(name), nullptr) << name << " has no line in kernels/catalog.cpp";
  }
}

TEST(Catalogs, EveryKernelIsModelled) {
  const auto names = modelled();
  for (const cuda::KernelEntry& entry : cuda::catalog()) {
    EXPECT_TRUE(names.contains(entry.name)) << entry.name << " has no model";
  }
}

TEST(Catalogs, TheModelsDefaultsAreCompiledIn) {
  for (const std::string_view name : modelled()) {
    const cuda::KernelEntry* entry = cuda::find(name);
    if (entry == nullptr || testing::is_of_framework(name)) continue;
    const KernelRef found = find_kernel(name);
    for (const DType type : found.dtypes()) {
      const Problem problem = with_settings(found, ragged(found, type), any_gpu());
      EXPECT_EQ(entry->unsupported(problem), "") << name << " " << roofcast::name(type);
    }
  }
}

void expect_launches_of_plan(const KernelRef& kernel, const cuda::KernelEntry& entry,
                             const Problem& problem, const Gpu& gpu) {
  const std::string what = std::string(kernel.kernel->name) + " " +
                           validation::problem_text(kernel.kernel->name, problem);
  std::vector<Launch> planned;
  for (const Launched& node : kernel.kernel->plan(problem, gpu)) {
    planned.insert(planned.end(), static_cast<std::size_t>(node.repeats), node.plan.launch);
  }
  const std::vector<cuda::Launch> launched = entry.launches(problem);
  // The plan counts the driver's memset of a counter as a launch; the kernel does not.
  const bool counts = kernel.kernel->name == "attention.flash3" && planned.size() == 2 &&
                      planned.front().threads() == 32;
  if (counts) planned.erase(planned.begin());
  ASSERT_EQ(planned.size(), launched.size()) << what;
  for (std::size_t i = 0; i < planned.size(); ++i) {
    const dim3 grid = launched[i].grid;
    const dim3 block = launched[i].block;
    const std::string where = what + ", launch " + std::to_string(i);
    EXPECT_EQ(planned[i].blocks(), std::int64_t{grid.x} * grid.y * grid.z) << where;
    EXPECT_EQ(planned[i].threads(), std::int64_t{block.x} * block.y * block.z) << where;
    EXPECT_GE(planned[i].shared_bytes, static_cast<std::int64_t>(launched[i].shared_bytes))
        << where;
  }
}

TEST(Catalogs, ThePlanLaunchesWhatTheKernelLaunches) {
  const Gpu gpu = any_gpu();
  for (const std::string_view name : modelled()) {
    const cuda::KernelEntry* entry = cuda::find(name);
    if (entry == nullptr || testing::is_of_framework(name)) continue;
    const KernelRef found = find_kernel(name);
    for (const DType type : found.dtypes()) {
      expect_launches_of_plan(found, *entry, with_settings(found, ragged(found, type), gpu), gpu);
    }
  }
}

TEST(Catalogs, ThePlanLaunchesWhatTheKernelLaunchesOfWhateverIsDrawn) {
  const Gpu gpu = any_gpu();
  for (const char* name : {"random", "products"}) {
    const auto suite =
        validation::parse_random_suite(name, std::string(validation::embedded_suite(name).text));
    for (const auto& item : validation::draw_suite(suite, 2, 1000, gpu).cases) {
      const cuda::KernelEntry* entry = cuda::find(item.kernel);
      ASSERT_NE(entry, nullptr) << item.kernel;
      if (testing::is_of_framework(item.kernel)) continue;
      const KernelRef found = find_kernel(item.kernel);
      expect_launches_of_plan(found, *entry, with_settings(found, item.problem, gpu), gpu);
    }
  }
}

// The plan's activation is one of the kernel's inputs: the harness brings that input into L2 before
// a warm launch.
TEST(Catalogs, TheActivationOfThePlanIsAnInputOfTheKernel) {
  const Gpu gpu = any_gpu();
  std::set<std::string_view> without;
  for (const std::string_view name : modelled()) {
    const cuda::KernelEntry* entry = cuda::find(name);
    if (entry == nullptr || testing::is_of_framework(name)) continue;
    const KernelRef found = find_kernel(name);
    Problem problem = ragged(found, found.dtypes().front());
    std::size_t pass = found.parameters().size();
    for (std::size_t i = 0; i < found.parameters().size(); ++i) {
      if (found.parameters()[i].name == "pass") pass = i;
    }
    // Decoding has no backward.
    const bool both = pass < found.parameters().size() && name != "attention.decode";
    for (std::int64_t value = 0; value < (both ? 2 : 1); ++value) {
      if (pass < found.parameters().size()) problem[pass] = value;
      const auto activation =
          activation_of(found.kernel->plan(with_settings(found, problem, gpu), gpu));
      if (!activation) {
        without.insert(name.substr(0, name.find('.')));
        continue;
      }
      const cuda::Tensors tensors = entry->tensors(with_settings(found, problem, gpu));
      ASSERT_LT(activation->input, tensors.inputs.size()) << name;
      const cuda::Tensor& input = tensors.inputs[activation->input];
      EXPECT_EQ(activation->bytes, size_bytes(input.dtype) * static_cast<double>(input.elements))
          << name;
    }
  }
  EXPECT_EQ(without, (std::set<std::string_view>{"access", "divergence", "stream"}))
      << "of stream only null";
}

// Every drawn case is supported by its kernel: the tiles and access widths that a draw chooses are
// compiled in.
TEST(Catalogs, KernelsTakeWhateverIsDrawn) {
  const auto suite = validation::parse_random_suite(
      "random.json", std::string(validation::embedded_suite("random").text));
  std::set<std::string> drawn;
  for (const auto& item : validation::draw_suite(suite, 1, 6000, any_gpu()).cases) {
    const cuda::KernelEntry* entry = cuda::find(item.kernel);
    ASSERT_NE(entry, nullptr) << item.kernel;
    const Problem problem = with_settings(find_kernel(item.kernel), item.problem, any_gpu());
    EXPECT_EQ(entry->unsupported(problem), "")
        << item.kernel << " " << validation::problem_text(item.kernel, problem);
    drawn.insert(item.kernel);
  }
  for (const cuda::KernelEntry& entry : cuda::catalog()) {
    EXPECT_TRUE(drawn.contains(std::string(entry.name))) << entry.name << " is never drawn";
  }
}

}  // namespace
}  // namespace roofcast
