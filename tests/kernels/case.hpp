#pragma once
// One kernel on one problem in device memory: inputs filled, outputs poisoned, references computed.
#include <string>
#include <vector>

#include "tests/kernels/device.hpp"

namespace roofcast::cuda {

/// Elements by which inputs and outputs are shifted from an aligned address.
struct Shift {
  std::size_t inputs, outputs;
};

class TestCase {
 public:
  TestCase(const KernelEntry& entry, const Problem& problem, Shift shift)
      : entry_(entry), problem_(problem), tensors_(entry.tensors(problem)) {
    // No address may move once it is handed out.
    memory_.reserve(tensors_.inputs.size() + tensors_.scratch.size() + 2 * tensors_.outputs.size());
    const auto add = [&](const Tensor& tensor, std::size_t elements) {
      return memory_.emplace_back(tensor, elements).data();
    };
    std::vector<void*> writable;
    for (const Tensor& tensor : tensors_.inputs) {
      writable.push_back(add(tensor, shift.inputs));
      fill_normal(writable.back(), tensor.dtype, tensor.elements, 7 + inputs_.size(), nullptr);
      inputs_.push_back(writable.back());
    }
    if (entry.fill != nullptr) entry.fill(problem, writable, 7, nullptr);
    for (const Tensor& tensor : tensors_.scratch) scratch_.push_back(add(tensor, shift.outputs));
    for (const Tensor& tensor : tensors_.outputs) {
      references_.push_back(static_cast<double*>(add({DType::fp64, tensor.elements}, 0)));
    }
    first_output_ = memory_.size();
    for (const Tensor& tensor : tensors_.outputs) outputs_.push_back(add(tensor, shift.outputs));
    entry.reference(problem, inputs_, references_, nullptr);
    check(cudaDeviceSynchronize());
  }

  void run() const { entry_.run(problem_, {inputs_, outputs_, scratch_}, nullptr); }
  /// Error over tolerance; 0 for an exact result.
  double error_over_tolerance(std::size_t output) const {
    const double error = this->error(output), tolerance = entry_.tolerance(problem_, output);
    return error == 0 ? 0 : error / tolerance;
  }
  double error(std::size_t output) const {
    return max_error(outputs_[output], tensors_.outputs[output], references_[output], nullptr);
  }
  bool zones_untouched() const {
    return std::all_of(memory_.begin(), memory_.end(),
                       [](const Guarded& each) { return each.zones_untouched(); });
  }

  const std::vector<Tensor>& outputs() const { return tensors_.outputs; }
  const Guarded& output(std::size_t i) const { return memory_[first_output_ + i]; }
  std::vector<double> reference(std::size_t i) const {
    std::vector<double> host(tensors_.outputs[i].elements);
    check(cudaMemcpy(host.data(), references_[i], host.size() * sizeof(double),
                     cudaMemcpyDeviceToHost));
    return host;
  }

 private:
  const KernelEntry& entry_;
  const Problem& problem_;
  Tensors tensors_;
  std::vector<Guarded> memory_;
  std::size_t first_output_ = 0;
  std::vector<const void*> inputs_;
  std::vector<void*> outputs_, scratch_;
  std::vector<double*> references_;
};

inline std::string text(const Problem& problem) {
  std::string result(name(problem.dtype));
  for (const std::int64_t value : problem.values) {
    if (value != 0) result += ' ' + std::to_string(value);
  }
  if (!problem.text.empty()) result += ' ' + std::string(problem.text.view());
  return result;
}

}  // namespace roofcast::cuda
