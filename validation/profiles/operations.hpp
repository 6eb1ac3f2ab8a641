#pragma once
// Which kernel of the catalogue an operator or a kernel of a profile is, and with what problem.
#include <optional>

#include "model/predict.hpp"
#include "validation/profiles/kernel_names.hpp"
#include "validation/profiles/trace.hpp"

namespace roofcast::validation {

/// What a call can be asked as. Memory-bound operators are kernels described by the bytes that they
/// move.
struct Recognized {
  KernelRef kernel;
  Problem problem;
  Does does = Does::unknown;
  std::optional<Traffic>
      least{};               ///< bytes that it moves for certain, where that is not all of them
  bool bound_alone = false;  ///< of it the limit is known, no expected time
};

/// Nothing where the operator is not known, its shapes were not recorded, or no kernel takes them.
std::optional<Recognized> recognize(const TracedCall& call);

/// The same for operators that take as long as their bytes do.
std::optional<Recognized> recognize_memory_bound(const TracedCall& call);

/// A convolution, forward or backward. Forward, over images and with square filters, it is
/// convolution.library; of others the arithmetic and each tensor, moved once, are known alone.
std::optional<Recognized> recognize_convolution(const TracedCall& call);

/// Reads and writes as a kernel of that name: 256 threads a block, 16 B a thread.
Recognized moving(const std::string& name, const Traffic& bytes, Does does,
                  const FlopsByType& tensor_flops = {});

/// The type of a tensor, by its name in PyTorch; nothing for those that no kernel here computes in.
std::optional<DType> dtype_of(const TensorShape& tensor);
double elements_of(const TensorShape& tensor);
double bytes_of(const TensorShape& tensor);

/// A parameter by its name, where the kernel has it.
void set_parameter(const KernelRef& kernel, Problem& problem, std::string_view name,
                   std::int64_t value);
/// All parameters at their fallbacks.
Problem problem_with_fallbacks(const KernelRef& kernel, DType dtype);

/// Attention as a library computes it in one pass (cuDNN, FlashAttention).
struct AttentionShape {
  std::int64_t batch = 1, heads = 1, kv_heads = 1, seq_q = 1, seq_kv = 1, head_dim = 1;
  bool causal = false, backward = false;
  std::string_view library = "best";
};
Recognized attention_of(const AttentionShape& shape, DType dtype);

}  // namespace roofcast::validation
