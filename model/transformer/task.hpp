#pragma once
// A question about a model: a training step, a prefill or a decode step, on how many GPUs.
#include <array>
#include <cstdint>
#include <string_view>

#include "model/transformer/architecture.hpp"
#include "model/transformer/collective.hpp"
#include "model/types/dtype.hpp"

namespace roofcast::transformer {

enum class Phase : unsigned char { train, prefill, decode };
inline constexpr std::array<std::string_view, 3> kPhases = {"train", "prefill", "decode"};

/// Who launches the kernels: PyTorch layer by layer, kernels that a compiler fused, or nothing but
/// the products and what must move.
enum class Framework : unsigned char { eager, compiled, ideal };
inline constexpr std::array<std::string_view, 3> kFrameworks = {"eager", "compiled", "ideal"};

/// What the backward pass computes again: nothing; what lies between products (norms, activations,
/// rotary embeddings, and scores where they lie in memory); or the whole forward pass of each
/// layer.
enum class Checkpointing : unsigned char { none, selective, full };
inline constexpr std::array<std::string_view, 3> kCheckpointings = {"none", "selective", "full"};

/// AdamW with fp32 moments, and fp32 weights where training is mixed; with moments in the type of
/// the weights; or gradient descent, which keeps nothing.
enum class Optimizer : unsigned char { adamw, adamw16, sgd };
inline constexpr std::array<std::string_view, 3> kOptimizers = {"adamw", "adamw16", "sgd"};

/// How often a router chooses each expert: as trained ones do, each alike, or by a power law with
/// that exponent.
enum class Routing : unsigned char { as_trained, balanced, power_law_101, power_law_120 };
inline constexpr std::array<std::string_view, 4> kRoutings = {"as_trained", "balanced",
                                                              "power_law_1.01", "power_law_1.2"};

/// When the backward pass gathers the weights of the next layer: before or after the gradients of
/// the layer at hand (BACKWARD_PRE and BACKWARD_POST of PyTorch's FSDP).
enum class Prefetch : unsigned char { pre, post };
inline constexpr std::array<std::string_view, 2> kPrefetches = {"pre", "post"};

struct Task {
  Phase phase = Phase::train;
  /// Of weights, activations and cache. fp8: of weights and products alone; activations, the
  /// vocabulary's product and the router's have 16 bits.
  DType dtype = DType::bf16;
  std::int64_t batch = 1;       ///< sequences at a time of one GPU, or of tp GPUs together
  std::int64_t seq = 1024;      ///< tokens of a sequence; decode: 1 is computed
  std::int64_t context = 0;     ///< decode: keys that the cache holds
  std::int64_t prompts = 0;     ///< decode: of `seq` tokens each, computed in the same step
  std::int64_t grad_accum = 1;  ///< passes between two optimizer steps
  Checkpointing checkpointing = Checkpointing::none;
  Optimizer optimizer = Optimizer::adamw;
  bool dropout = false;  ///< train: of embeddings, probabilities and what joins the residual
  bool chunked_loss =
      false;                ///< train: vocabulary's product and loss by layer.linear_cross_entropy
  bool all_logits = false;  ///< prefill: of every token, not of the last alone
  std::int64_t tp = 1;      ///< GPUs that share each product
  std::int64_t dp = 1;      ///< copies of the model
  std::int64_t fsdp = 1;    ///< GPUs that share weights, gradients and optimizer states
  Prefetch prefetch = Prefetch::pre;  ///< train: of fsdp
  std::int64_t pp = 1;  ///< train: stages of layers, which grad_accum micro-batches pass one by one
  std::int64_t ep = 1;  ///< GPUs that share the experts: of the copies, else of tp
  Routing routing = Routing::as_trained;
  Framework framework = Framework::eager;
  Network network;  ///< between machines of 8 GPUs

  /// Between two optimizer steps; one where nothing is trained.
  double passes() const { return phase == Phase::train ? static_cast<double>(grad_accum) : 1; }
  double tokens() const {  ///< of one pass of one GPU (or of tp together)
    return static_cast<double>(phase == Phase::decode ? batch + prompts * seq : batch * seq);
  }
  double answers() const {  ///< sequences that get a token, where not every token has logits
    return static_cast<double>(batch + prompts);
  }
  double activation_bytes() const { return dtype == DType::fp8 ? 2 : size_bytes(dtype); }
  double gpus() const { return static_cast<double>(tp * pp * dp * fsdp); }
};

/// Where the experts lie. Where ep divides dp · fsdp, ep copies of the rest of the model exchange
/// rows; else the GPUs of tp, which all have every token, share the experts.
struct ExpertGroup {
  std::int64_t copies = 1;  ///< of the model, which exchange rows
  std::int64_t shares = 1;  ///< GPUs among which each expert is divided
};
ExpertGroup expert_group(const Task& task);

/// The name of how the experts are chosen, as moe.library has it. Trained routers: the power laws
/// that ai-dynamo/aiconfigurator takes them for (Apache-2.0, sdk/models.py), 1.2, and 1.01 where
/// training kept the choices even.
std::string_view routing_of(const Architecture& model, const Task& task);

/// Whether the loss is computed chunk by chunk: of a training step in 16 bits on one GPU or copies
/// of it, where the vocabulary is not shared.
bool chunks_loss(const Architecture& model, const Task& task);

/// Parameters that lie on one GPU: of several stages, that with the larger end of the model.
double parameters_of_gpu(const Architecture& model, const Task& task);

/// Throws InputError with the key where tp does not divide heads or widths, for a type that steps
/// are not forecast in, and for decoding with an encoder.
void check(const Architecture& model, const Task& task);

/// Bytes on one GPU when most is in use. Of a training step that is before the backward pass, when
/// no gradients are there unless earlier passes left them; or after it, when activations are gone.
struct Memory {
  double weights = 0;
  double gradients = 0;
  double optimizer = 0;    ///< its states
  double activations = 0;  ///< kept for the backward pass, or under way
  double cache = 0;
  double workspace = 0;  ///< of libraries, and weights gathered for the layers under way
  double total() const { return weights + gradients + optimizer + activations + cache + workspace; }
};

/// With FlashAttention in 16 bits, without dropout (Korthikanti et al. 2022, arXiv 2205.05198,
/// without masks). What the driver and fragments of the allocator take is not in it.
Memory memory(const Architecture& model, const Task& task);

/// The largest batch whose memory is at most `bytes`; 0 where none is.
std::int64_t largest_batch(const Architecture& model, Task task, double bytes);

}  // namespace roofcast::transformer
