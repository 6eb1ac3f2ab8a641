// Bytes that a step keeps on one GPU.
#include <algorithm>

#include "model/counting/integers.hpp"
#include "model/libraries/layer.hpp"
#include "model/transformer/task.hpp"

namespace roofcast::transformer {
namespace {

// Elements of a token in one layer, shared among tp GPUs but for the layer's width.
struct KeptElements {
  double wide;      // an array of the layer's width
  double norm;      // what a norm keeps, its result among it
  double heads;     // queries, keys and values
  double attended;  // what attention writes
  double products;  // what the feed-forward part's first products write
  double inner;     // what lies between these and the last product, its input among it
};

// What lies before the last product: the gate's activation and its product with the other half; or
// of GELU as gelu_new writes it x/2, tanh, 1 + tanh and the result.
double inner_arrays(const Architecture& model, bool eager) {
  if (!eager) return 1;
  return model.gated ? 2 : model.plain_gelu ? 4 : 1;
}

KeptElements kept_elements(const Architecture& model, const Task& task) {
  const double tp = as_double(task.tp), hidden = as_double(model.hidden),
               heads = as_double(model.heads);
  const double query = model.latent ? heads * (model.latent->nope_dim + model.latent->rope_dim)
                                    : heads * as_double(model.head_dim);
  const double kv = model.latent ? heads * (model.latent->nope_dim + model.latent->value_dim) / 2
                                 : as_double(model.kv_heads * model.head_dim);
  const double width = model.experts ? (model.experts->per_token + model.experts->shared) *
                                           model.experts->intermediate
                                     : as_double(model.intermediate);
  const bool eager = task.framework == Framework::eager;
  // PyTorch code of a root mean square norm: a fp32 copy, the normalized row in 16 bits, the
  // result.
  const bool copies = eager && model.rms_norm && task.dtype != DType::fp32;
  // Rotated queries lie head by head, and so does what attention writes: a copy lies token by
  // token.
  return {hidden,
          (copies ? 4 : 2) * hidden,
          (query + 2 * kv) / tp,
          (model.rotary ? 2 : 1) * query / tp,
          width * (model.gated ? 2 : 1) / tp,
          width * inner_arrays(model, eager) / tp};
}

double all_of_layer(const KeptElements& kept) {
  return 2 * kept.norm + kept.heads + kept.attended + kept.products + kept.inner;
}

// What products and attention write: the rest is computed again from it.
double products_of_layer(const KeptElements& kept) {
  return 2 * kept.wide + kept.heads + kept.attended + kept.products;
}

// Probabilities of a layer, where they lie in memory.
double scores(const Architecture& model, const Task& task) {
  if (task.dtype != DType::fp32 || task.phase == Phase::decode) return 0;
  return as_double(task.batch * model.heads * task.seq * task.seq) / as_double(task.tp);
}

// A byte of mask for each element that is dropped or not; of probabilities in memory what is left
// of them too.
double mask_bytes(const Architecture& model, const Task& task) {
  if (!task.dropout || task.phase != Phase::train) return 0;
  return 2 * as_double(model.hidden) * task.tokens() +
         scores(model, task) * (1 + task.activation_bytes());
}

// Where the backward pass begins. Eager: log-softmax in fp32, its gradient, and that of the logits
// in fp32. Compiled: the logits, their gradient, and that of the product's weights.
double loss_bytes(const Architecture& model, const Task& task) {
  if (model.pooled) return 0;
  if (chunks_loss(model, task)) {  // of a chunk, with the gradients of input and weights
    const auto chunk = as_double(layer::loss_chunk(static_cast<std::int64_t>(task.tokens()),
                                                   model.vocabulary, model.hidden));
    return (chunk * as_double(model.vocabulary) +
            (task.tokens() + as_double(model.vocabulary)) * as_double(model.hidden)) *
           task.activation_bytes();
  }
  const double logits = task.tokens() * as_double(model.vocabulary) / as_double(task.tp);
  if (task.framework == Framework::eager) return 3 * sizeof(float) * logits;
  const double weights =
      as_double(model.vocabulary * model.hidden) / as_double(task.tp * task.fsdp);
  return (2 * logits + weights) * task.activation_bytes();
}

// Logits and their fp32 copy.
double answer_bytes(const Architecture& model, const Task& task) {
  if (model.pooled) return 0;
  const double rows = task.all_logits ? task.tokens() : task.answers();
  return rows * as_double(model.vocabulary) / as_double(task.tp) *
         (task.activation_bytes() + (task.dtype == DType::fp32 ? 0 : size_bytes(DType::fp32)));
}

/// Of all layers, and of the one at hand.
struct Activations {
  double kept = 0;
  double layer = 0;
};

Activations activations(const Architecture& model, const Task& task) {
  const double element = task.activation_bytes();
  const KeptElements kept = kept_elements(model, task);
  Activations result;
  result.layer = (all_of_layer(kept) * task.tokens() + scores(model, task)) * element +
                 mask_bytes(model, task);
  if (task.phase != Phase::train) {
    result.kept = result.layer + answer_bytes(model, task);
    return result;
  }
  // The first stage holds what the micro-batches before the first gradients need.
  const double layers =
      as_double(model.layers) / as_double(task.pp) * as_double(std::min(task.pp, task.grad_accum));
  result.kept = layers * result.layer;
  if (task.checkpointing != Checkpointing::none) {
    const double each =
        task.checkpointing == Checkpointing::full ? kept.wide : products_of_layer(kept);
    result.kept = layers * each * element * task.tokens() + result.layer;
  }
  result.kept += kept.norm * element * task.tokens() + loss_bytes(model, task);
  return result;
}

// PyTorch's workspaces of cuBLAS and cuBLASLt on Hopper (aten/src/ATen/cuda/CUDABlas.cpp);
// elsewhere they are smaller.
constexpr double kLibraryBytes = 2 * 32.0 * 1024 * 1024;

// Weights of both ends, of the layer at hand and of the next, and gradients of one layer, whole.
double gathered(const Architecture& model, const Task& task) {
  if (task.fsdp < 2) return 0;
  const ParameterCounts counts = count_parameters(model);
  const double ends = counts.embeddings + counts.head;
  const double experts = parameters_of_experts(model);
  const double layer =
      (counts.total - ends - experts + experts / as_double(expert_group(task).copies)) /
      as_double(model.layers);
  const double layers =
      std::min(2.0, as_double(model.layers)) + (task.phase == Phase::train ? 1 : 0);
  return (ends + layers * layer) / as_double(task.tp) * size_bytes(task.dtype);
}

double optimizer_bytes(double parameters, const Task& task) {
  const double element = size_bytes(task.dtype);
  switch (task.optimizer) {
    case Optimizer::adamw:
      return parameters * (element < sizeof(float) ? 3 : 2) * sizeof(float);
    case Optimizer::adamw16:
      return parameters * 2 * element;
    default:
      return 0;
  }
}

}  // namespace

Memory memory(const Architecture& model, const Task& task) {
  const double element = size_bytes(task.dtype);
  const double share = parameters_of_gpu(model, task);
  Memory result;
  result.weights = share * element;
  if (task.dtype == DType::fp8) {  // vectors and the vocabulary's product keep 16 bits
    const ParameterCounts counts = count_parameters(model);
    result.weights += (counts.embeddings + counts.head) / as_double(task.tp * task.fsdp) *
                      (task.activation_bytes() - element);
  }
  const Activations kept = activations(model, task);
  result.activations = kept.kept;
  result.workspace = kLibraryBytes + gathered(model, task);
  if (task.phase == Phase::train) {
    result.optimizer = optimizer_bytes(share, task);
    const double gradients = share * element;
    if (task.grad_accum > 1 || task.pp > 1) {
      result.gradients = gradients;
    } else if (gradients + kept.layer > kept.kept) {
      result.gradients = gradients;
      result.activations = kept.layer;
    }
  } else {
    const double tokens =
        as_double(task.batch * (task.phase == Phase::decode ? task.context : task.seq));
    // Latent keys and values are every GPU's; heads are shared.
    const double shared = model.latent ? 1 : as_double(std::min(task.tp, model.kv_heads));
    result.cache =
        model.causal ? cache_bytes_per_token(model, task.activation_bytes()) * tokens / shared : 0;
  }
  return result;
}

std::int64_t largest_batch(const Architecture& model, Task task, double bytes) {
  std::int64_t fits = 0;
  std::int64_t most = std::int64_t{1} << 30;
  while (fits < most) {
    task.batch = fits + (most - fits + 1) / 2;
    if (memory(model, task).total() <= bytes) {
      fits = task.batch;
    } else {
      most = task.batch - 1;
    }
  }
  return fits;
}

}  // namespace roofcast::transformer
