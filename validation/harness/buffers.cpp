#include "validation/harness/buffers.hpp"

#include <stdexcept>

#include "kernels/common/data.hpp"

namespace roofcast::harness {

void Arena::reset(std::size_t bytes) {
  used_ = 0;
  if (bytes <= size_) return;
  memory_.reset();
  size_ = 0;
  memory_ = device_alloc<std::byte>(bytes);
  size_ = bytes;
}

void* Arena::take(std::size_t bytes) {
  if (used_ + padded(bytes) > size_) throw std::logic_error("the arena was made too small");
  void* const memory = memory_.get() + used_;
  used_ += padded(bytes);
  return memory;
}

std::size_t arena_bytes(const cuda::Tensors& tensors) {
  std::size_t bytes = 0;
  for (const auto* group : {&tensors.inputs, &tensors.outputs, &tensors.scratch}) {
    for (const cuda::Tensor& tensor : *group) bytes += Arena::padded(bytes_of(tensor));
  }
  return bytes;
}

BufferSet::BufferSet(const cuda::KernelEntry& kernel, const Problem& problem, Arena& arena,
                     std::uint64_t seed, cudaStream_t stream)
    : tensors_(kernel.tensors(problem)) {
  std::vector<void*> inputs;
  for (const cuda::Tensor& tensor : tensors_.inputs) {
    void* const memory = arena.take(bytes_of(tensor));
    // Every input of every set has a seed of its own: sets are 64 seeds apart.
    cuda::fill_normal(memory, tensor.dtype, tensor.elements, 64 * seed + inputs_.size(), stream);
    inputs_.push_back(memory);
    inputs.push_back(memory);
  }
  if (kernel.fill != nullptr) kernel.fill(problem, inputs, seed, stream);
  for (const cuda::Tensor& tensor : tensors_.outputs)
    outputs_.push_back(arena.take(bytes_of(tensor)));
  for (const cuda::Tensor& tensor : tensors_.scratch)
    scratch_.push_back(arena.take(bytes_of(tensor)));
  poison_outputs(stream);
}

void BufferSet::poison_outputs(cudaStream_t stream) const {
  for (std::size_t i = 0; i < outputs_.size(); ++i) {
    cuda::poison(outputs_[i], tensors_.outputs[i].dtype, tensors_.outputs[i].elements, stream);
  }
  for (std::size_t i = 0; i < scratch_.size(); ++i) {
    cuda::poison(scratch_[i], tensors_.scratch[i].dtype, tensors_.scratch[i].elements, stream);
  }
}

}  // namespace roofcast::harness
