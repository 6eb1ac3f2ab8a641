#pragma once
// Device memory for a kernel's tensors, filled with normal random data.
#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels/common/kernel.hpp"
#include "validation/harness/handles.hpp"

namespace roofcast::harness {

/// One allocation that all cases reuse: allocating gigabytes for each case would take longer than
/// timing it.
class Arena {
 public:
  /// Invalidates everything taken before and grows to `bytes` if needed. Throws CudaError out of
  /// memory.
  void reset(std::size_t bytes);
  void* take(std::size_t bytes);

  /// Bytes that `take` uses, rounded up to cudaMalloc's alignment.
  static constexpr std::size_t padded(std::size_t bytes) { return (bytes + 255) / 256 * 256; }

 private:
  DevicePointer<std::byte> memory_;
  std::size_t size_ = 0;
  std::size_t used_ = 0;
};

/// Arena bytes of all tensors.
std::size_t arena_bytes(const cuda::Tensors& tensors);

/// The tensors of one problem: inputs the same for the same seed, outputs and scratch poisoned.
class BufferSet {
 public:
  BufferSet(const cuda::KernelEntry& kernel, const Problem& problem, Arena& arena,
            std::uint64_t seed, cudaStream_t stream);

  cuda::Addresses addresses() const { return {inputs_, outputs_, scratch_}; }
  void poison_outputs(cudaStream_t stream) const;

 private:
  cuda::Tensors tensors_;
  std::vector<const void*> inputs_;
  std::vector<void*> outputs_;
  std::vector<void*> scratch_;
};

}  // namespace roofcast::harness
