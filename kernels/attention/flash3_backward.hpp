#pragma once
// attention.flash3, backward: what the entry flash3 calls where the pass is backward. A backward
// problem has no scratch but that of add_scratch.
#include <string>
#include <vector>

#include "kernels/attention/attention.hpp"

namespace roofcast::cuda::attention::flash3_backward {

/// Empty if these kernels take the sizes on a device of compute capability 9.0, else why not.
/// Call unsupported_shape first.
std::string unsupported(const Problem&);
/// Adds the log-sum-exp and D of padded rows, and the sums of dQ where blocks add them (kDq).
void add_scratch(Tensors&, const Problem&);
std::vector<Launch> launches(const Problem&);
/// Throws CudaError where a launch is refused.
void run(const Problem&, const Addresses&, cudaStream_t);

}  // namespace roofcast::cuda::attention::flash3_backward
