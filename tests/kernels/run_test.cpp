// Every kernel, in every configuration and type it is compiled for: right against float64, writing
// every element of its outputs and nothing else, and the same on a second run unless its entry says
// otherwise.
//
//   SweepTest   the shapes that validation measures, as far as they fit, aligned
//   RunTest     ragged sizes and misaligned addresses
//   SmallTest   a few of those, for compute-sanitizer (scripts/test --gpu): every code path, among
//               them several rows a cluster, a block and a warp
//
// Each test prints the largest error it saw as a share of the tolerance.
#include <array>
#include <cstdio>
#include <set>
#include <string>
#include <vector>

#include "kernels/catalog.hpp"
#include "model/kernels/attention/attention.hpp"
#include "model/kernels/norm/norm.hpp"
#include "tests/kernels/case.hpp"
#include "tests/kernels/settings.hpp"
#include "validation/runs/suite.hpp"

namespace roofcast::cuda {
namespace {

using Sizes = std::vector<std::int64_t>;

enum class Extent { sweep, ragged, small };

bool over_rows(std::string_view name) {
  return name.starts_with("softmax.") || name.starts_with("norm.") || name.starts_with("reduce.");
}

bool is_attention(std::string_view name) {
  return name.starts_with("attention.");
}

std::vector<Sizes> ragged_sizes(std::string_view name) {
  if (name == "access.gather") {  // n, window: with the distribution of the configuration
    return {{1, 1}, {31, 1}, {64, 32}, {1000, 8}, {65536, 4096}, {1000003, 1}};
  }
  if (name.starts_with("transpose.") || name.ends_with("_wise")) {
    return {{1, 1},     {3, 70},    {32, 32},  {64, 64}, {129, 257},
            {1000, 66}, {254, 510}, {1, 4099}, {4099, 1}};
  }
  if (over_rows(name)) {  // from 7 rows on a cluster of the configurations has several
    return {{1, 1},     {3, 7},      {70, 33},    {9, 256},   {5, 1023},   {7, 1024},
            {6, 2000},  {2, 4097},   {300, 4096}, {5, 8192},  {7, 16384},  {3, 9999},
            {3, 50257}, {13, 65536}, {5, 262144}, {7, 16392}, {1100, 520}, {130, 8200}};
  }
  // batch, heads, kv_heads, seq_q, seq_kv, head_dim, causal, pass
  if (name == "attention.decode") {
    return {{1, 1, 0, 1, 1, 64, 0, 0},     {1, 4, 1, 1, 15, 128, 0, 0},
            {2, 8, 2, 1, 1000, 128, 0, 0}, {3, 16, 1, 1, 257, 64, 0, 0},
            {1, 4, 4, 3, 100, 40, 1, 0},   {2, 8, 2, 4, 333, 256, 1, 0},
            {1, 2, 1, 8, 8, 128, 1, 0},    {1, 32, 2, 1, 70000, 128, 1, 0},
            {4, 2, 2, 16, 4097, 96, 0, 0}, {1, 5, 5, 2, 3000, 8, 0, 0}};
  }
  if (is_attention(name)) {
    std::vector<Sizes> all = {{1, 2, 2, 64, 64, 64, 0, 0},    {2, 4, 2, 129, 257, 128, 1, 0},
                              {1, 3, 0, 257, 0, 40, 1, 0},    {1, 8, 2, 100, 1000, 256, 1, 0},
                              {3, 2, 1, 131, 333, 96, 0, 0},  {1, 2, 2, 1000, 1000, 128, 1, 0},
                              {1, 1, 0, 2048, 0, 64, 0, 0},   {1, 2, 2, 700, 700, 256, 1, 0},
                              {5, 7, 7, 65, 63, 16, 0, 0},    {2, 4, 4, 1, 4099, 128, 0, 0},
                              {1, 2, 1, 16, 40000, 64, 0, 0}, {4, 6, 2, 384, 384, 192, 1, 0}};
    for (std::size_t i = 0, forward = all.size(); i < forward; ++i) {
      // A single query has no gradient that stands out of its roundings where keys are few.
      if (all[i][3] == 1) continue;
      all.push_back(all[i]);
      all.back().back() = roofcast::kBackward;
    }
    return all;
  }
  if (name.starts_with("gemm.")) {
    return {{1, 1, 1},      {2, 31, 33},     {33, 1, 7},     {1, 257, 127},
            {127, 129, 1},  {128, 128, 128}, {131, 67, 257}, {257, 127, 31},
            {100, 300, 36}, {517, 260, 132}, {3, 4, 1021},   {1030, 64, 20}};
  }
  return {{1}, {2}, {7}, {31}, {33}, {127}, {257}, {1000}, {4093}, {65537}, {1 << 18}, {1000003}};
}

bool backward(std::string_view name, const Problem& p) {
  return name.starts_with("norm.") && p[roofcast::norm::kPass] == roofcast::kBackward;
}

std::vector<Sizes> small_sizes(std::string_view name, const Problem& configuration) {
  if (name == "access.gather") return {{1000, 8}};
  if (name.starts_with("transpose.") || name.ends_with("_wise")) return {{70, 33}, {72, 136}};
  // 8200 columns stream in fp32, 16392 in two blocks of 16-bit elements too. 130 rows of 8200 are
  // more than the backward pass has clusters; 256 columns do not stream.
  if (backward(name, configuration)) return {{7, 70}, {9, 256}, {130, 8200}};
  if (name.starts_with("norm.")) return {{7, 70}, {7, 8200}, {7, 16392}};
  if (over_rows(name)) return {{7, 70}, {7, 1000}};
  if (name == "attention.decode") {
    return {{1, 8, 2, 1, 300, 128, 0, 0}, {1, 2, 1, 4, 77, 40, 1, 0}, {1, 2, 2, 1, 130, 256, 0, 0}};
  }
  if (is_attention(name)) {
    return {{1, 2, 1, 70, 133, 64, 1, 0},   {1, 2, 1, 70, 133, 64, 1, 1},
            {2, 1, 1, 200, 200, 128, 0, 0}, {2, 1, 1, 200, 200, 128, 0, 1},
            {1, 1, 1, 40, 100, 256, 1, 0},  {1, 1, 1, 40, 100, 256, 1, 1},
            {1, 2, 2, 33, 70, 40, 0, 0},    {1, 2, 2, 33, 70, 40, 0, 1}};
  }
  if (name.starts_with("gemm.")) return {{131, 67, 57}, {132, 136, 60}};
  return {{4093}};
}

/// Whether results of so few elements may all be small differences of large intermediates, so that
/// an error relative to the largest result says nothing.
bool ill_conditioned(const KernelEntry& entry, const Problem& p) {
  if (entry.name.starts_with("elementwise.expr.") || entry.name.ends_with(".unfused") ||
      entry.name.starts_with("recompute.") || entry.name.starts_with("divergence.")) {
    return p[0] < 31;
  }
  // dx of n columns has n - 2 degrees of freedom.
  return backward(entry.name, p) && p[1] < 7;
}

/// The problems that validation measures, less those that take long to check: float64 products of
/// large matrices, attention over long sequences, and, of kernels whose path does not depend on the
/// size, all but the smallest and the largest of each type.
std::vector<Problem> sweep_problems(const KernelEntry& entry) {
  constexpr std::size_t kMostBytes = std::size_t{7} << 29;
  constexpr std::int64_t kMostProducts = std::int64_t{1} << 31;
  constexpr double kMostFlops = 6e11;
  static const validation::Suite suite = validation::find_suite("default");
  std::vector<Problem> fitting;
  for (const validation::SuiteCase& one : suite.cases) {
    if (one.kernel != entry.name) continue;
    const Problem problem = settled(entry.name, one.problem).front();
    if (!entry.unsupported(problem).empty()) continue;
    const Tensors tensors = entry.tensors(problem);
    std::size_t bytes = 0;
    for (const auto* group : {&tensors.inputs, &tensors.outputs, &tensors.scratch}) {
      for (const Tensor& tensor : *group) {
        bytes += static_cast<std::size_t>(size_bytes(tensor.dtype) *
                                          static_cast<double>(tensor.elements));
      }
    }
    for (const Tensor& tensor : tensors.outputs) bytes += sizeof(double) * tensor.elements;
    const bool product = entry.name.starts_with("gemm.");
    if (bytes > kMostBytes || (product && problem[0] * problem[1] > kMostProducts / problem[2])) {
      continue;
    }
    if (is_attention(entry.name) && roofcast::attention::Shape(problem).flops() > kMostFlops)
      continue;
    if (std::find(fitting.begin(), fitting.end(), problem) == fitting.end()) {
      fitting.push_back(problem);
    }
  }
  if (over_rows(entry.name) || is_attention(entry.name)) return fitting;
  const auto by_size = [](const Problem& a, const Problem& b) { return a[0] < b[0]; };
  std::vector<Problem> few;
  for (const DType dtype : kAllDTypes) {
    std::vector<Problem> of_type;
    std::copy_if(fitting.begin(), fitting.end(), std::back_inserter(of_type),
                 [&](const Problem& p) { return p.dtype == dtype; });
    if (of_type.empty()) continue;
    const auto [least, most] = std::minmax_element(of_type.begin(), of_type.end(), by_size);
    few.push_back(*least);
    if (!(*least == *most)) few.push_back(*most);
  }
  return few;
}

class RunTest : public GpuTest {
 public:
  RunTest(const KernelEntry& entry, Extent extent) : entry_(entry), extent_(extent) {}
  void TestBody() override {
    if (extent_ == Extent::sweep) {
      for (const Problem& problem : sweep_problems(entry_)) run_and_compare(problem, {0, 0});
    } else {
      configurations();
    }
    std::printf("             %s: %zu problems, largest error %.3f of the tolerance%s%s\n",
                std::string(entry_.name).c_str(), problems_, worst_, worst_ > 0 ? ", at " : "",
                worst_at_.c_str());
  }

 private:
  static constexpr int kMostFailures = 5;  // some reports, not thousands

  void configurations() {
    const bool small = extent_ == Extent::small;
    const std::vector<Shift> shifts = small ? std::vector<Shift>{{0, 0}, {1, 0}}
                                            : std::vector<Shift>{{0, 0}, {1, 1}, {1, 0}, {0, 1}};
    for (Problem problem : entry_.configurations) {
      for (const DType dtype : kAllDTypes) {
        if (small && dtype != DType::fp32 && dtype != DType::bf16) continue;
        problem.dtype = dtype;
        for (const Sizes& sizes :
             small ? small_sizes(entry_.name, problem) : ragged_sizes(entry_.name)) {
          std::copy(sizes.begin(), sizes.end(), problem.values.begin());
          if (ill_conditioned(entry_, problem)) continue;
          // The model's choice runs at every shift, its other candidates at aligned addresses
          // alone.
          bool chosen = true;
          for (const Problem& way : settled(entry_.name, problem)) {
            if (!entry_.unsupported(way).empty()) continue;
            for (const Shift shift : shifts) {
              if (chosen || shift.inputs + shift.outputs == 0) run_and_compare(way, shift);
            }
            chosen = false;
          }
        }
      }
    }
  }

  void run_and_compare(const Problem& problem, Shift shift) {
    if (failures_ >= kMostFailures) return;
    const std::string where = text(problem) + ", shifted by " + std::to_string(shift.inputs) +
                              ", " + std::to_string(shift.outputs);
    SCOPED_TRACE(where);
    const TestCase one(entry_, problem, shift);
    bool right = true;
    std::vector<std::vector<std::byte>> before;
    one.run();
    for (std::size_t i = 0; i < one.outputs().size(); ++i) {
      const double error = one.error(i), share = one.error_over_tolerance(i);
      EXPECT_LE(share, 1) << "output " << i << ": error " << error << " of its largest value";
      right = right && share <= 1;
      if (share > worst_) worst_ = share, worst_at_ = where + ", output " + std::to_string(i);
      before.push_back(one.output(i).content());
    }
    one.run();
    const bool repeats = entry_.repeats == nullptr || entry_.repeats(problem);
    for (std::size_t i = 0; repeats && i < one.outputs().size(); ++i) {
      const bool same = one.output(i).content() == before[i];
      EXPECT_TRUE(same) << "output " << i << ": a second run differs";
      right = right && same;
    }
    const bool untouched = one.zones_untouched();
    EXPECT_TRUE(untouched) << "memory outside the tensors was written";
    failures_ += right && untouched ? 0 : 1;
    ++problems_;
  }

  const KernelEntry& entry_;
  Extent extent_;
  std::size_t problems_ = 0;
  int failures_ = 0;
  double worst_ = 0;
  std::string worst_at_;
};

void add_test(const char* suite, const KernelEntry& entry, Extent extent) {
  std::string test(entry.name);
  std::replace(test.begin(), test.end(), '.', '_');
  ::testing::RegisterTest(suite, test.c_str(), nullptr, nullptr, __FILE__, __LINE__,
                          [&entry, extent]() -> RunTest* { return new RunTest(entry, extent); });
}

const bool kRegistered = [] {
  for (const KernelEntry& entry : catalog()) {
    add_test("SmallTest", entry, Extent::small);
    add_test("RunTest", entry, Extent::ragged);
    add_test("SweepTest", entry, Extent::sweep);
  }
  for (const KernelEntry& entry : baselines()) add_test("RunTest", entry, Extent::ragged);
  return true;
}();

}  // namespace
}  // namespace roofcast::cuda
