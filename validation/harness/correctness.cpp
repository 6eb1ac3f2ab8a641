#include "validation/harness/correctness.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "kernels/common/data.hpp"
#include "model/predict.hpp"
#include "validation/runs/problem_text.hpp"

namespace roofcast::harness {
namespace {

constexpr std::size_t kMostHeldBytes = std::size_t{12} << 30;

std::size_t output_bytes(const std::vector<cuda::Tensor>& outputs) {
  std::size_t bytes = 0;
  for (const cuda::Tensor& tensor : outputs) bytes += tensor.elements * sizeof(double);
  return bytes;
}

}  // namespace

std::optional<Problem> ragged_companion(const cuda::KernelEntry& kernel, const Problem& problem) {
  constexpr std::array<std::int64_t, 4> kPrimes = {137, 211, 67, 31};
  const KernelRef found = find_kernel(kernel.name);
  Problem companion = problem;
  std::size_t i = 0;
  std::size_t required = 0;
  for (const Parameter& parameter : found.parameters()) {
    // Parameters without a fallback are the shape, the others the configuration.
    if (!parameter.fallback) {
      companion[i] =
          std::clamp(kPrimes[required++ % kPrimes.size()], parameter.minimum, parameter.maximum);
    }
    ++i;
  }
  if (required == 1) companion[0] = 100'003;  // one extent: several blocks and a tail
  try {
    check(found, companion, ~0U);
  } catch (const InputError&) {
    return std::nullopt;
  }
  if (required == 0 || !kernel.unsupported(companion).empty()) return std::nullopt;
  return companion;
}

const Correctness::Outputs& Correctness::reference(const cuda::KernelEntry& kernel,
                                                   const Problem& problem, const BufferSet& buffers,
                                                   std::uint64_t seed, cudaStream_t stream) {
  // The key leaves out parameters that configure the kernel: they do not change the result.
  std::string shape = fmt::format("{} {} {}", seed, name(problem.dtype), problem.text.view());
  std::size_t i = 0;
  for (const Parameter& parameter : find_kernel(kernel.name).parameters()) {
    if (!parameter.configures) shape += fmt::format(" {}={}", parameter.name, problem[i]);
    ++i;
  }
  const Key key{reinterpret_cast<const void*>(kernel.reference), shape};
  if (const auto found = references_.find(key); found != references_.end()) return found->second;

  const std::vector<cuda::Tensor> tensors = kernel.tensors(problem).outputs;
  const std::size_t bytes = output_bytes(tensors);
  if (held_bytes_ + bytes > kMostHeldBytes) {
    references_.clear();
    held_bytes_ = 0;
  }
  Outputs outputs;
  std::vector<double*> addresses;
  for (const cuda::Tensor& tensor : tensors) {
    outputs.push_back(device_alloc<double>(tensor.elements));
    addresses.push_back(outputs.back().get());
  }
  kernel.reference(problem, buffers.addresses().inputs, addresses, stream);
  cuda::check(cudaStreamSynchronize(stream));
  held_bytes_ += bytes;
  return references_.emplace(key, std::move(outputs)).first->second;
}

double Correctness::error_of(const cuda::KernelEntry& kernel, const cuda::KernelEntry& solver,
                             const Problem& problem, const BufferSet& buffers, std::uint64_t seed,
                             cudaStream_t stream) {
  const Outputs& expected = reference(kernel, problem, buffers, seed, stream);
  buffers.poison_outputs(stream);
  solver.run(problem, buffers.addresses(), stream);
  cuda::check(cudaStreamSynchronize(stream));
  const std::vector<cuda::Tensor> tensors = kernel.tensors(problem).outputs;
  double worst = 0;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const double error =
        cuda::max_error(buffers.addresses().outputs[i], tensors[i], expected[i].get(), stream);
    const double tolerance = solver.tolerance(problem, i);
    if (!(error <= tolerance)) {
      throw WrongResult(fmt::format(
          "wrong result of {} for {}: output {} has an error of {:.3g} of its largest value, "
          "tolerance {:.3g} (infinite: an output was not written or is NaN)",
          solver.name, validation::problem_text(kernel.name, problem), i, error, tolerance));
    }
    worst = std::max(worst, error);
  }
  return worst;
}

}  // namespace roofcast::harness
