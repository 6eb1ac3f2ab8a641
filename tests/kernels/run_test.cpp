// Every kernel, in every configuration and type it is compiled for, over ragged sizes and
// misaligned addresses: right against float64, writing every element of its outputs and nothing
// else, and the same on a second run.
#include <array>
#include <string>
#include <vector>

#include "kernels/catalog.hpp"
#include "tests/kernels/device.hpp"

namespace roofcast::cuda {
namespace {

using Sizes = std::vector<std::int64_t>;

/// All sizes and addresses; or few, for tools under which a kernel runs a thousand times slower.
enum class Extent { all, small };

std::vector<Sizes> sizes_for(std::string_view name, Extent extent) {
  if (name == "access.gather") {  // n, window: with the distribution of the configuration
    return {{1, 1}, {31, 1}, {64, 32}, {1000, 8}, {65536, 4096}, {1000003, 1}};
  }
  if (name.starts_with("transpose.") || name.ends_with("_wise")) {
    const std::vector<Sizes> few = {{70, 33}};
    return extent == Extent::small ? few : std::vector<Sizes>{{1, 1},     {3, 70},    {32, 32},
                                                              {64, 64},   {129, 257}, {1000, 66},
                                                              {254, 510}, {1, 4099},  {4099, 1}};
  }
  if (name.starts_with("softmax.") || name.starts_with("norm.") || name.starts_with("reduce.")) {
    const std::vector<Sizes> few = {{3, 70}};
    return extent == Extent::small
               ? few
               : std::vector<Sizes>{{1, 1},    {3, 7},     {70, 33},   {9, 256},    {5, 1023},
                                    {7, 1024}, {6, 2000},  {2, 4097},  {300, 4096}, {5, 8192},
                                    {3, 9999}, {2, 16384}, {3, 50257}, {3, 65536},  {2, 262144}};
  }
  if (extent == Extent::small) {
    return name.starts_with("gemm.") ? std::vector<Sizes>{{131, 67, 57}, {132, 136, 60}}
                                     : std::vector<Sizes>{{4093}};
  }
  if (name.starts_with("gemm.")) {
    return {{1, 1, 1},      {2, 31, 33},     {33, 1, 7},     {1, 257, 127},
            {127, 129, 1},  {128, 128, 128}, {131, 67, 257}, {257, 127, 31},
            {100, 300, 36}, {517, 260, 132}, {3, 4, 1021},   {1030, 64, 20}};
  }
  return {{1}, {2}, {7}, {31}, {33}, {127}, {257}, {1000}, {4093}, {65537}, {1 << 18}, {1000003}};
}

/// Elements by which inputs and outputs are shifted from an aligned address.
struct Shift {
  std::size_t inputs, outputs;
};
constexpr std::array kShifts = {Shift{0, 0}, Shift{1, 1}, Shift{1, 0}, Shift{0, 1}};

void run_and_compare(const KernelEntry& entry, const Problem& problem, Shift shift) {
  const Tensors tensors = entry.tensors(problem);
  std::vector<Guarded> memory;
  std::vector<const void*> inputs;
  std::vector<void*> outputs, scratch, writable;
  std::vector<double*> references;
  const auto add = [&](const Tensor& tensor, std::size_t elements) {
    return memory.emplace_back(tensor, elements).data();
  };
  for (const Tensor& tensor : tensors.inputs) {
    void* const data = add(tensor, shift.inputs);
    fill_normal(data, tensor.dtype, tensor.elements, 7 + inputs.size(), nullptr);
    inputs.push_back(data);
    writable.push_back(data);
  }
  if (entry.fill != nullptr) entry.fill(problem, writable, 7, nullptr);
  for (const Tensor& tensor : tensors.scratch) scratch.push_back(add(tensor, shift.outputs));
  for (const Tensor& tensor : tensors.outputs) {
    references.push_back(static_cast<double*>(add({DType::fp64, tensor.elements}, 0)));
  }
  for (const Tensor& tensor : tensors.outputs) outputs.push_back(add(tensor, shift.outputs));
  const auto first_output = memory.end() - static_cast<std::ptrdiff_t>(outputs.size());

  entry.reference(problem, inputs, references, nullptr);
  entry.run(problem, {inputs, outputs, scratch}, nullptr);
  std::vector<std::vector<std::byte>> before;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const Tensor& tensor = tensors.outputs[i];
    const double error =
        max_error(outputs[i], tensor.dtype, references[i], tensor.elements, nullptr);
    EXPECT_LE(error, entry.tolerance(problem));
    before.push_back((first_output + static_cast<std::ptrdiff_t>(i))->content());
  }
  entry.run(problem, {inputs, outputs, scratch}, nullptr);
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    EXPECT_EQ((first_output + static_cast<std::ptrdiff_t>(i))->content(), before[i])
        << "a second run differs";
  }
  for (const Guarded& each : memory) EXPECT_TRUE(each.zones_untouched());
}

std::string text(const Problem& problem) {
  std::string result(name(problem.dtype));
  for (const std::int64_t value : problem.values) {
    if (value != 0) result += ' ' + std::to_string(value);
  }
  if (!problem.text.empty()) result += ' ' + std::string(problem.text.view());
  return result;
}

class RunTest : public GpuTest {
 public:
  RunTest(const KernelEntry& entry, Extent extent) : entry_(entry), extent_(extent) {}
  void TestBody() override {
    for (Problem problem : entry_.configurations) {
      for (const DType dtype : kAllDTypes) {
        problem.dtype = dtype;
        for (const Sizes& sizes : sizes_for(entry_.name, extent_)) {
          std::copy(sizes.begin(), sizes.end(), problem.values.begin());
          if (!entry_.unsupported(problem).empty()) continue;
          for (const Shift shift : kShifts) {
            SCOPED_TRACE(text(problem) + ", shifted by " + std::to_string(shift.inputs) + ", " +
                         std::to_string(shift.outputs));
            run_and_compare(entry_, problem, shift);
            if (HasFailure()) return;  // one report, not thousands
          }
        }
      }
    }
  }

 private:
  const KernelEntry& entry_;
  Extent extent_;
};

const bool kRegistered = [] {
  for (const std::span<const KernelEntry> list : {catalog(), baselines()}) {
    for (const KernelEntry& entry : list) {
      std::string test(entry.name);
      std::replace(test.begin(), test.end(), '.', '_');
      ::testing::RegisterTest("RunTest", test.c_str(), nullptr, nullptr, __FILE__, __LINE__,
                              [&entry]() -> RunTest* { return new RunTest(entry, Extent::all); });
      ::testing::RegisterTest("SmallTest", test.c_str(), nullptr, nullptr, __FILE__, __LINE__,
                              [&entry]() -> RunTest* { return new RunTest(entry, Extent::small); });
    }
  }
  return true;
}();

}  // namespace
}  // namespace roofcast::cuda
