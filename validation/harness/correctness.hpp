#pragma once
// Checks a kernel's outputs, poisoned before, against a float64 reference on random data.
#include <cuda_runtime.h>

#include <cstddef>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "kernels/common/kernel.hpp"
#include "validation/harness/buffers.hpp"

namespace roofcast::harness {

/// A wrong result: what() gives the error and the tolerance.
class WrongResult : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A small problem of the same kernel and configuration with prime extents, which no tile divides;
/// nothing if the kernel does not accept it.
std::optional<Problem> ragged_companion(const cuda::KernelEntry& kernel, const Problem& problem);

/// Checks results and caches the references: several kernels solve the same problem on the same
/// inputs, and a float64 product takes longer than any of them.
class Correctness {
 public:
  /// Launches `solver`, the kernel or its library baseline, on `buffers`, which were filled with
  /// `seed`, and returns the largest error over the outputs. Throws WrongResult.
  double error_of(const cuda::KernelEntry& kernel, const cuda::KernelEntry& solver,
                  const Problem& problem, const BufferSet& buffers, std::uint64_t seed,
                  cudaStream_t stream);

 private:
  using Outputs = std::vector<DevicePointer<double>>;
  /// What determines a reference: its function, the shape and the seed.
  using Key = std::pair<const void*, std::string>;

  const Outputs& reference(const cuda::KernelEntry& kernel, const Problem& problem,
                           const BufferSet& buffers, std::uint64_t seed, cudaStream_t stream);

  std::map<Key, Outputs> references_;
  std::size_t held_bytes_ = 0;
};

}  // namespace roofcast::harness
