// The correctness gate says no: poison, zeros, and results shifted by one row or one element fail
// the tolerance of every output of every kernel and type, and the rounded reference passes it.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "kernels/catalog.hpp"
#include "model/kernels/attention/attention.hpp"
#include "tests/kernels/case.hpp"

namespace roofcast::cuda {
namespace {

template <class T>
void append(std::vector<std::byte>& to, T value) {
  const auto* const bytes = reinterpret_cast<const std::byte*>(&value);
  to.insert(to.end(), bytes, bytes + sizeof(value));
}

std::vector<std::byte> rounded(const std::vector<double>& values, DType dtype) {
  std::vector<std::byte> bytes;
  for (const double value : values) {
    switch (dtype) {
      case DType::fp64:
        append(bytes, value);
        break;
      case DType::fp16:
        append(bytes, __float2half_rn(static_cast<float>(value)));
        break;
      case DType::bf16:
        append(bytes, __float2bfloat16_rn(static_cast<float>(value)));
        break;
      default:
        append(bytes, static_cast<float>(value));
    }
  }
  return bytes;
}

std::vector<double> shifted(std::vector<double> values, std::size_t by) {
  std::rotate(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(by), values.end());
  return values;
}

/// Whether all values are the same, as of sin² + cos²: a shift does not show.
bool constant(const std::vector<double>& values) {
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  return *most - *least <= 1e-12 * std::abs(*most);
}

Problem typical(const KernelEntry& entry) {
  Problem p = entry.configurations.front();
  const bool rows = entry.name.starts_with("softmax.") || entry.name.starts_with("norm.") ||
                    entry.name.starts_with("reduce.");
  const bool matrix = entry.name.starts_with("transpose.") || entry.name.ends_with("_wise");
  if (entry.name == "attention.decode") {
    constexpr std::array kSizes = {2, 8, 2, 1, 500, 64, 0, 0, 3};  // the last: splits
    std::copy(kSizes.begin(), kSizes.end(), p.values.begin());
  } else if (entry.name.starts_with("attention.")) {
    constexpr std::array kSizes = {2, 4, 2, 96, 160, 64, 1, 0};
    std::copy(kSizes.begin(), kSizes.end(), p.values.begin());
  } else if (entry.name.starts_with("gemm.")) {
    p[0] = 100, p[1] = 200, p[2] = 300;
  } else if (rows || matrix) {
    p[0] = 200, p[1] = rows ? 16384 : 300;
  } else {
    p[0] = 40960;
  }
  return p;
}

class GateTest : public GpuTest {
 public:
  explicit GateTest(const KernelEntry& entry) : entry_(entry) {}
  void TestBody() override {
    std::vector<Problem> problems = {typical(entry_)};
    if (entry_.name.starts_with("norm.")) {
      problems.push_back(problems.front());
      problems.back()[2] = 1;  // the backward pass
    }
    if (entry_.name.starts_with("attention.") && entry_.name != "attention.decode") {
      problems.push_back(problems.front());
      problems.back()[roofcast::attention::kPass] = roofcast::kBackward;
    }
    for (Problem problem : problems) {
      for (const DType dtype : kAllDTypes) {
        problem.dtype = dtype;
        if (entry_.unsupported(problem).empty()) refuse_wrong_results(problem);
      }
    }
  }

 private:
  void refuse_wrong_results(const Problem& problem) {
    SCOPED_TRACE(text(problem));
    const TestCase one(entry_, problem, {0, 0});
    for (std::size_t i = 0; i < one.outputs().size(); ++i) {
      SCOPED_TRACE("output " + std::to_string(i));
      const Tensor& tensor = one.outputs()[i];
      const double tolerance = entry_.tolerance(problem, i);
      const auto error_of = [&](const std::vector<std::byte>& bytes) {
        check(cudaMemcpy(one.output(i).data(), bytes.data(), bytes.size(), cudaMemcpyHostToDevice));
        return one.error(i);
      };
      EXPECT_FALSE(one.error(i) <= tolerance) << "poison passes";
      const std::vector<double> reference = one.reference(i);
      EXPECT_LE(error_of(rounded(reference, tensor.dtype)), tolerance) << "the reference fails";
      EXPECT_GT(error_of(rounded(std::vector<double>(reference.size()), tensor.dtype)), tolerance)
          << "zeros pass";
      if (constant(reference)) continue;
      EXPECT_GT(error_of(rounded(shifted(reference, 1), tensor.dtype)), tolerance)
          << "elements shifted by one pass";
      if (tensor.row == 0) continue;
      EXPECT_GT(error_of(rounded(shifted(reference, tensor.row), tensor.dtype)), tolerance)
          << "rows shifted by one pass";
    }
  }

  const KernelEntry& entry_;
};

const bool kRegistered = [] {
  for (const std::span<const KernelEntry> list : {catalog(), baselines()}) {
    for (const KernelEntry& entry : list) {
      std::string test(entry.name);
      std::replace(test.begin(), test.end(), '.', '_');
      ::testing::RegisterTest("GateTest", test.c_str(), nullptr, nullptr, __FILE__, __LINE__,
                              [&entry]() -> GateTest* { return new GateTest(entry); });
    }
  }
  return true;
}();

}  // namespace
}  // namespace roofcast::cuda
