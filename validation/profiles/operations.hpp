#pragma once
// Maps operators and kernels of a profile to kernels of the catalogue and their problems.
#include <optional>

#include "model/predict.hpp"
#include "validation/profiles/kernel_names.hpp"
#include "validation/profiles/trace.hpp"

namespace roofcast::validation {

/// The kernel and problem with which a call is forecast. Memory-bound operators become kernels that
/// are described by the bytes they move.
struct Recognized {
  KernelRef kernel;
  Problem problem;
  Does does = Does::unknown;
  std::optional<Traffic> least{};  ///< lower bound of the bytes moved, if that is not all of them
  bool bound_alone = false;        ///< has a limit but no expected time
};

/// Nothing if the operator is not known, its shapes were not recorded, or no kernel takes them.
std::optional<Recognized> recognize(const TracedCall& call);

/// Recognizes memory-bound operators, Inductor's kernels, memsets and copies within the GPU.
std::optional<Recognized> recognize_memory_bound(const TracedCall& call);

/// Recognizes convolutions. A forward one over 2D images that the catalogue has is
/// convolution.library; all others have only a limit, from their FLOPs and each tensor moved once.
std::optional<Recognized> recognize_convolution(const TracedCall& call);

/// A kernel described by its bytes and FLOPs: 256 threads a block, 16 B a thread.
Recognized moving(const std::string& name, const Traffic& bytes, Does does,
                  const FlopsByType& tensor_flops = {});

/// A tensor's element type, by its name in PyTorch; nothing for types that no kernel computes in.
std::optional<DType> dtype_of(const TensorShape& tensor);
double elements_of(const TensorShape& tensor);
double bytes_of(const TensorShape& tensor);

/// Sets a parameter by its name, if the kernel has it.
void set_parameter(const KernelRef& kernel, Problem& problem, std::string_view name,
                   std::int64_t value);
/// A problem with all parameters at their fallbacks.
Problem problem_with_fallbacks(const KernelRef& kernel, DType dtype);

/// Attention as a library computes it in one pass (cuDNN, FlashAttention).
struct AttentionShape {
  std::int64_t batch = 1, heads = 1, kv_heads = 1, seq_q = 1, seq_kv = 1, head_dim = 1;
  bool causal = false, backward = false;
  std::string_view library = "best";
};
Recognized attention_of(const AttentionShape& shape, DType dtype);

}  // namespace roofcast::validation
