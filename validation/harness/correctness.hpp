#pragma once
// Is a kernel right? Its outputs against a float64 reference, on random data, from poisoned
// outputs.
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

/// A small problem of the same kernel and configuration whose extents share no factor with any
/// tile, or nothing where the kernel takes none such.
std::optional<Problem> ragged_companion(const cuda::KernelEntry& kernel, const Problem& problem);

/// Keeps references: several kernels solve the same problem on the same inputs, and a float64
/// product takes longer than any of them.
class Correctness {
 public:
  /// The error of one launch of `solver`, the kernel itself or its library baseline, on `buffers`,
  /// which were filled with `seed`: the largest of the outputs. Throws WrongResult.
  double error_of(const cuda::KernelEntry& kernel, const cuda::KernelEntry& solver,
                  const Problem& problem, const BufferSet& buffers, std::uint64_t seed,
                  cudaStream_t stream);

 private:
  using Outputs = std::vector<DevicePointer<double>>;
  /// The reference's function, the shape, the seed: what decides the reference.
  using Key = std::pair<const void*, std::string>;

  const Outputs& reference(const cuda::KernelEntry& kernel, const Problem& problem,
                           const BufferSet& buffers, std::uint64_t seed, cudaStream_t stream);

  std::map<Key, Outputs> references_;
  std::size_t held_bytes_ = 0;
};

}  // namespace roofcast::harness
