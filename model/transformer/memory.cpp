// Memory of a step on one GPU, bytes.
#include <algorithm>

#include "model/libraries/layer.hpp"
#include "model/transformer/task.hpp"

namespace roofcast::transformer {
namespace {

constexpr double kFp32Bytes = 4;

// Activations kept for the backward pass, in elements per token and layer on one of tp GPUs.
struct Kept {
  double norm;      // of one norm, with its result
  double products;  // outputs of projections and attention, except the two outputs of hidden width
  double inner;     // from the up projection to the input of the down projection
};

Kept kept_elements(const Architecture& model, const Task& task) {
  const double tp = as_double(task.tp), heads = as_double(model.heads);
  const double query = heads * model.key_dim();
  const double kv = model.latent ? heads * (model.latent->nope_dim + model.latent->value_dim) / 2
                                 : as_double(model.kv_heads * model.head_dim);
  const double width = model.experts ? (model.experts->per_token + model.experts->shared) *
                                           model.experts->intermediate
                                     : as_double(model.intermediate);
  const bool eager = task.framework == Framework::eager;
  // Eager code keeps the gate's activation and its product with the other half. gelu_new keeps x/2,
  // tanh and 1 + tanh besides the result.
  const double inner_arrays = !eager ? 1 : model.gated ? 2 : model.plain_gelu ? 4 : 1;
  // An RMS norm in eager PyTorch code keeps an fp32 copy and the normalized row in 16 bits.
  const bool copies = eager && model.rms_norm && task.dtype != DType::fp32;
  // With rotary, attention's output is kept in head order and, copied, in token order.
  const double attended = (model.rotary ? 2 : 1) * query;
  return {(copies ? 4 : 2) * as_double(model.hidden),
          (query + 2 * kv + attended + width * (model.gated ? 2 : 1)) / tp,
          width * inner_arrays / tp};
}

// Attention probabilities that a layer stores (elements): fp32 training and prefill only.
double scores(const Architecture& model, const Task& task) {
  if (task.dtype != DType::fp32 || task.phase == Phase::decode) return 0;
  const double seq = as_double(task.seq);
  return as_double(task.batch * model.heads) * seq * seq / as_double(task.tp);
}

// Dropout keeps a mask of one byte per element, and a copy of stored probabilities after dropout.
double mask_bytes(const Architecture& model, const Task& task) {
  if (!task.dropout || task.phase != Phase::train) return 0;
  return 2 * as_double(model.hidden) * task.tokens() +
         scores(model, task) * (1 + task.activation_bytes());
}

// Bytes after the layers: logits and their fp32 copy, or the loss as the backward pass begins.
// Eager: log-softmax, its gradient and the logits' gradient in fp32. Compiled: logits, their
// gradient, the LM head's weight gradient. In chunks: one chunk's logits, and the gradients of the
// head's input and weights.
double loss_bytes(const Architecture& model, const Task& task) {
  if (model.pooled) return 0;
  const double element = task.activation_bytes(), rows = task.answers();
  const double vocabulary = as_double(model.vocabulary), hidden = as_double(model.hidden);
  const double logits = rows * vocabulary / as_double(task.tp);
  if (task.phase != Phase::train) {
    return logits * (element + (task.dtype == DType::fp32 ? 0 : kFp32Bytes));
  }
  if (chunks_loss(model, task)) {
    const auto chunk = as_double(
        layer::loss_chunk(static_cast<std::int64_t>(rows), model.vocabulary, model.hidden));
    return (chunk * vocabulary + (rows + vocabulary) * hidden) * element;
  }
  if (task.framework == Framework::eager) return 3 * kFp32Bytes * logits;
  return (2 * logits + vocabulary * hidden / as_double(task.tp * task.fsdp)) * element;
}

/// Activation bytes: all layers and the loss or logits; the layer being computed.
struct Activations {
  double all, layer;
};

Activations activations(const Architecture& model, const Task& task) {
  const double element = task.activation_bytes(), tokens = task.tokens();
  const double hidden = as_double(model.hidden);
  const auto [norm, products, inner] = kept_elements(model, task);
  const double layer = ((2 * norm + products + inner) * tokens + scores(model, task)) * element +
                       mask_bytes(model, task);
  const double loss = loss_bytes(model, task);
  if (task.phase != Phase::train) return {layer + loss, layer};
  // The first pipeline stage holds the activations of all micro-batches before its first gradients.
  const double layers =
      as_double(model.layers) / as_double(task.pp) * as_double(std::min(task.pp, task.grad_accum));
  const double ends = norm * element * tokens + loss;
  if (task.checkpointing == Checkpointing::none) return {layers * layer + ends, layer};
  // Kept per layer: its input (full), or the outputs of projections and attention (selective).
  const double each = task.checkpointing == Checkpointing::full ? hidden : 2 * hidden + products;
  return {layers * each * element * tokens + layer + ends, layer};
}

// PyTorch's workspaces for cuBLAS and cuBLASLt at their largest (aten/src/ATen/cuda/CUDABlas.cpp).
constexpr double kLibraryBytes = 2 * 32.0 * 1024 * 1024;

// Bytes that FSDP holds gathered: both ends, two layers' weights, in training a layer's gradients.
double gathered(const Architecture& model, const Task& task) {
  if (task.fsdp < 2) return 0;
  const ParameterCounts counts = count_parameters(model);
  const double experts = counts.routed / as_double(expert_group(task).copies);
  const double layer = (counts.unrouted() + experts) / as_double(model.layers);
  const double layers =
      std::min(2.0, as_double(model.layers)) + (task.phase == Phase::train ? 1 : 0);
  return (counts.ends() + layers * layer) / as_double(task.tp) * size_bytes(task.dtype);
}

// Bytes of optimizer state per parameter of `element` bytes.
double optimizer_bytes(Optimizer optimizer, double element) {
  if (optimizer == Optimizer::adamw) return (element < kFp32Bytes ? 3 : 2) * kFp32Bytes;
  return optimizer == Optimizer::adamw16 ? 2 * element : 0;
}

}  // namespace

Memory memory(const Architecture& model, const Task& task) {
  const double element = size_bytes(task.dtype);
  const double share = parameters_of_gpu(model, task);
  const auto [all, layer] = activations(model, task);
  Memory result;
  // Under fp8, embeddings and LM head keep 16 bits.
  result.weights = share * element + count_parameters(model).ends() /
                                         as_double(task.tp * task.fsdp) *
                                         (task.activation_bytes() - element);
  result.activations = all;
  result.workspace = kLibraryBytes + gathered(model, task);
  if (task.phase == Phase::train) {
    result.optimizer = share * optimizer_bytes(task.optimizer, element);
    const bool earlier = task.grad_accum > 1 || task.pp > 1;  // earlier passes left gradients
    const bool after = result.weights + layer > all;          // the peak is after the backward pass
    if (earlier || after) result.gradients = result.weights;
    if (!earlier && after) result.activations = layer;
  } else if (model.causal) {
    const std::int64_t keys = task.phase == Phase::decode ? task.context : task.seq;
    // Latent keys and values are replicated on each GPU of tp; heads are divided.
    const double shared = model.latent ? 1 : as_double(std::min(task.tp, model.kv_heads));
    result.cache = cache_bytes_per_token(model, task.activation_bytes()) *
                   as_double(task.batch * keys) / shared;
  }
  return result;
}

std::int64_t largest_batch(const Architecture& model, Task task, double bytes) {
  std::int64_t fits = 0, most = std::int64_t{1} << 30;
  while (fits < most) {
    task.batch = fits + (most - fits + 1) / 2;
    const bool fit = memory(model, task).total() <= bytes;
    (fit ? fits : most) = fit ? task.batch : task.batch - 1;
  }
  return fits;
}

}  // namespace roofcast::transformer
