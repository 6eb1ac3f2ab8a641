#pragma once
// softmax(Q·Kᵀ/√d)·V and its gradients: what the variants share. Each variant is one file with its
// kernels and its entry; attention.cu has the tensors, the reference and the tolerances of all.
//
// Matrices are [batch, heads, sequence, head_dim], dense. Forward reads Q, K, V and writes O and
// the log-sum-exp of each row of scores (natural logarithm, fp32, [batch, heads, seq_q]). Backward
// reads Q, K, V, dO, O and the log-sum-exp, and writes dQ, dK, dV.
#include <span>
#include <string>
#include <string_view>

#include "kernels/common/kernel.hpp"
#include "model/kernels/attention/attention.hpp"
#include "model/kernels/attention/tiles.hpp"

namespace roofcast::cuda::attention {

using roofcast::attention::Shape;

/// Positions among the inputs and outputs.
enum Input : std::size_t { kQ, kK, kV, kDO, kO, kLse };
enum ForwardOutput : std::size_t { kOutO, kOutLse };
enum BackwardOutput : std::size_t { kOutDQ, kOutDK, kOutDV };

Tensors tensors(const Problem&);  ///< no scratch: variants add theirs
void reference(const Problem&, std::span<const void* const> inputs,
               std::span<double* const> outputs, cudaStream_t);
double tolerance(const Problem&, std::size_t output);
/// The tolerance of a kernel that stores the scores, and dP, in the 16-bit type.
double tolerance_of_rounded_scores(const Problem&, std::size_t output);
/// Fills inputs that are not random. Backward: O and the log-sum-exp, computed from the other
/// inputs. Forward: nothing.
void fill(const Problem&, std::span<void* const> inputs, std::uint64_t seed, cudaStream_t);

/// Empty if a kernel can run the problem on any device, else why not: type, sizes that do not fit
/// together, a causal mask that leaves a query without keys.
std::string unsupported_shape(const Problem&);

/// Whether results repeat from run to run: not backward where blocks of keys add to one dQ.
bool repeats(const Problem&);

/// The catalog's entry of a variant.
constexpr KernelEntry attention_entry(std::string_view name,
                                      std::span<const Problem> configurations,
                                      decltype(KernelEntry::unsupported) unsupported,
                                      decltype(KernelEntry::tensors) with_scratch,
                                      decltype(KernelEntry::launches) launches,
                                      decltype(KernelEntry::run) run,
                                      decltype(KernelEntry::repeats) repeats = nullptr) {
  return {.name = name,
          .configurations = configurations,
          .unsupported = unsupported,
          .tensors = with_scratch,
          .launches = launches,
          .run = run,
          .reference = reference,
          .tolerance = tolerance,
          .fill = fill,
          .repeats = repeats};
}

KernelEntry standard();
KernelEntry flash2();
KernelEntry flash3();
KernelEntry decode();

}  // namespace roofcast::cuda::attention
