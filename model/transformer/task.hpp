#pragma once
// A question about a model: a training, prefill or decode step, on a number of GPUs.
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "model/constants/steps.hpp"
#include "model/counting/integers.hpp"
#include "model/transformer/architecture.hpp"
#include "model/transformer/collective.hpp"
#include "model/types/dtype.hpp"

namespace roofcast::transformer {

enum class Phase : unsigned char { train, prefill, decode };
inline constexpr std::array<std::string_view, 3> kPhases = {"train", "prefill", "decode"};

/// The software: PyTorch eager code, kernels fused by a compiler, or only GEMMs and unavoidable
/// traffic.
enum class Framework : unsigned char { eager, compiled, ideal };
inline constexpr std::array<std::string_view, 3> kFrameworks = {"eager", "compiled", "ideal"};

/// What the backward pass recomputes: nothing; the kernels between GEMMs (norms, activations,
/// rotary embeddings, scores in memory); or each layer's whole forward pass.
enum class Checkpointing : unsigned char { none, selective, full };
inline constexpr std::array<std::string_view, 3> kCheckpointings = {"none", "selective", "full"};

/// adamw: fp32 moments, and fp32 master weights in mixed precision. adamw16: moments in the type of
/// the weights. sgd: no state.
enum class Optimizer : unsigned char { adamw, adamw16, sgd };
inline constexpr std::array<std::string_view, 3> kOptimizers = {"adamw", "adamw16", "sgd"};

/// How the router chooses experts: as trained (routing_of), evenly, or by a power law.
enum class Routing : unsigned char { as_trained, balanced, power_law_101, power_law_120 };
inline constexpr std::array<std::string_view, 4> kRoutings = {"as_trained", "balanced",
                                                              "power_law_1.01", "power_law_1.2"};

/// When the backward pass gathers the next layer's weights: before or after the gradients of the
/// current layer (BACKWARD_PRE and BACKWARD_POST of PyTorch's FSDP).
enum class Prefetch : unsigned char { pre, post };
inline constexpr std::array<std::string_view, 2> kPrefetches = {"pre", "post"};

struct Task {
  Phase phase = Phase::train;
  DType dtype = DType::bf16;    ///< of weights and GEMMs, and of the rest unless fp8: wide_dtype()
  std::int64_t batch = 1;       ///< sequences per pass of one GPU or tp group
  std::int64_t seq = 1024;      ///< tokens of a sequence; decode computes 1
  std::int64_t context = 0;     ///< decode: keys of a sequence in the cache
  std::int64_t prompts = 0;     ///< decode: prompts of `seq` tokens computed in the same step
  std::int64_t grad_accum = 1;  ///< passes per optimizer step
  Checkpointing checkpointing = Checkpointing::none;
  Optimizer optimizer = Optimizer::adamw;
  bool dropout = false;               ///< train: on embeddings, probabilities and residual branches
  bool chunked_loss = false;          ///< train: LM head and loss by layer.linear_cross_entropy
  bool all_logits = false;            ///< prefill: logits of every token, not only of the last
  std::int64_t tp = 1;                ///< tensor parallel: GPUs that divide each GEMM
  std::int64_t dp = 1;                ///< data parallel: copies of the model
  std::int64_t fsdp = 1;              ///< GPUs that share weights, gradients and optimizer states
  Prefetch prefetch = Prefetch::pre;  ///< train with fsdp
  std::int64_t pp = 1;  ///< train: pipeline stages, which grad_accum micro-batches pass through
  std::int64_t ep = 1;  ///< expert parallel: GPUs that divide the experts (ExpertGroup)
  Routing routing = Routing::as_trained;
  Framework framework = Framework::eager;
  double network_bytes_per_s = kNetworkBytesPerSecond;   ///< between machines of 8 GPUs
  double host_launch_s = constants::kHostLaunchSeconds;  ///< time to submit a launch: add_host()

  /// Passes per optimizer step; 1 without training.
  double passes() const { return phase == Phase::train ? as_double(grad_accum) : 1; }
  double tokens() const {  ///< tokens per pass of one GPU or tp group
    return as_double(phase == Phase::decode ? batch + prompts * seq : batch * seq);
  }
  double answers() const {  ///< tokens with logits: in inference one per sequence, unless all have
    const bool all = phase == Phase::train || all_logits;
    return all ? tokens() : as_double(batch + prompts);
  }
  /// Type of activations, cache, LM head and router.
  DType wide_dtype() const { return dtype == DType::fp8 ? DType::bf16 : dtype; }
  double activation_bytes() const { return size_bytes(wide_dtype()); }
  double gpus() const { return as_double(tp * pp * dp * fsdp); }
};

/// Whether PyTorch launches the kernels: in eager code and compiled training. Compiled inference
/// stands for a serving framework with its own kernels and CUDA graphs.
inline bool launched_by_pytorch(const Task& task) {
  return task.framework == Framework::eager ||
         (task.framework == Framework::compiled && task.phase == Phase::train);
}

/// How the experts are distributed. If ep divides dp · fsdp, ep replicas of the other layers
/// exchange token rows; else the GPUs of tp, which all hold every token, divide the experts.
struct ExpertGroup {
  std::int64_t copies = 1;  ///< replicas that exchange rows
  std::int64_t shares = 1;  ///< GPUs among which each expert is divided
};
ExpertGroup expert_group(const Task& task);

/// The name of the routing in moe.library. Trained routers follow the power laws of
/// ai-dynamo/aiconfigurator (Apache-2.0, sdk/models.py): 1.2, and 1.01 with Experts::balanced.
std::string_view routing_of(const Architecture& model, const Task& task);

/// Whether the loss is computed in chunks: if Task::chunked_loss asks for it, in training in 16
/// bits with tp = 1, for a model with an LM head.
bool chunks_loss(const Architecture& model, const Task& task);

/// Parameters on one GPU; of several pipeline stages, the one with the larger end of the model.
double parameters_of_gpu(const Architecture& model, const Task& task);

/// Throws InputError with the key if tp, pp or ep does not apply or does not divide what it splits,
/// and for a type or phase that the model's steps do not have.
void check(const Architecture& model, const Task& task);
/// Says so where the task has more tokens in a sequence than the model has learned positions.
std::optional<std::string> positions_note(const Architecture& model, const Task& task);

/// Peak memory of one GPU, bytes. The peak of a training step is before the backward pass, with
/// gradients only of earlier passes, or after it, when the activations are freed.
struct Memory {
  double weights = 0;
  double gradients = 0;
  double optimizer = 0;    ///< optimizer states
  double activations = 0;  ///< kept for the backward pass, or the current layer's
  double cache = 0;
  double workspace = 0;  ///< buffers of libraries; weights and gradients gathered by FSDP
  double total() const { return weights + gradients + optimizer + activations + cache + workspace; }
};

/// Activations are counted as in Korthikanti et al. 2022 (arXiv 2205.05198), with masks only under
/// dropout, FlashAttention in 16 bits, and without memory of driver and allocator.
Memory memory(const Architecture& model, const Task& task);

/// The largest batch that fits `bytes`; 0 if none does.
std::int64_t largest_batch(const Architecture& model, Task task, double bytes);

}  // namespace roofcast::transformer
