#pragma once
// The interface of every CUDA kernel of this project: the tensors it needs, how to launch it, and
// how to check it. One KernelEntry per variant; kernels/catalog.hpp lists them.
#include <cuda_runtime.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/types/dtype.hpp"
#include "model/types/launch.hpp"
#include "model/types/problem.hpp"

namespace roofcast::cuda {

/// One tensor in device memory.
struct Tensor {
  DType dtype;
  std::size_t elements;
  std::size_t row = 0;     ///< elements of a row where rows differ in scale; 0: one scale for all
  std::size_t pitch = 0;   ///< elements from one row to the next; 0: none are unused
  std::size_t unused = 0;  ///< elements at the end of each pitch that are neither read nor written
};

/// Bytes of a tensor, rounded up: elements of half a byte come in pairs.
inline std::size_t bytes_of(const Tensor& tensor) {
  return static_cast<std::size_t>(
      std::ceil(size_bytes(tensor.dtype) * static_cast<double>(tensor.elements)));
}

/// Everything a kernel reads and writes for one problem.
struct Tensors {
  std::vector<Tensor> inputs;
  std::vector<Tensor> outputs;
  std::vector<Tensor> scratch{};  ///< intermediates, for the kernel's launches alone
};

/// Device addresses in the order of Tensors.
struct Addresses {
  std::span<const void* const> inputs;
  std::span<void* const> outputs;
  std::span<void* const> scratch{};
};

/// One kernel launch as the runtime sees it, for the occupancy query and for launching.
/// `function` is what cudaFuncGetAttributes takes.
struct Launch {
  const void* function;
  dim3 grid;  ///< at most kMostBlocksYZ along y and z
  dim3 block;
  std::size_t shared_bytes;  ///< dynamic shared memory
};

/// A variant: "gemm.tiled". Functions take the Problem laid out by the model kernel of that name.
struct KernelEntry {
  std::string_view name;
  /// Configurations to try, the default first: a Problem whose sizes are still 0.
  std::span<const Problem> configurations;
  /// Empty if this build can run the problem, else why not (for example a tile not compiled in).
  std::string (*unsupported)(const Problem&);
  Tensors (*tensors)(const Problem&);
  /// The launches that `run` makes, in order, for addresses as cudaMalloc returns them (misaligned
  /// addresses may choose a slower kernel). Empty where a library decides.
  std::vector<Launch> (*launches)(const Problem&);
  /// Enqueues the work on the stream. Every address needs only element alignment.
  void (*run)(const Problem&, const Addresses&, cudaStream_t);
  /// The outputs in float64, computed on the device from the same inputs by the plainest method.
  void (*reference)(const Problem&, std::span<const void* const> inputs,
                    std::span<double* const> outputs, cudaStream_t);
  /// The largest max_error (data.hpp) of that output to accept, for standard normal inputs.
  double (*tolerance)(const Problem&, std::size_t output);
  /// Overwrites the inputs that are not normal random numbers (indices, selectors); null where
  /// there are none.
  void (*fill)(const Problem&, std::span<void* const> inputs, std::uint64_t seed,
               cudaStream_t) = nullptr;
  /// Whether a second run of the problem gives the same bits: not where blocks add to one sum in
  /// the order of their arrival. Null: always.
  bool (*repeats)(const Problem&) = nullptr;
};

}  // namespace roofcast::cuda
