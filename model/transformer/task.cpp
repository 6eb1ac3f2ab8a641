#include "model/transformer/task.hpp"

#include <algorithm>

#include "model/types/problem.hpp"

namespace roofcast::transformer {
namespace {

void check_divides(std::string_view key, std::string_view what, std::int64_t count,
                   std::int64_t gpus) {
  require(count % gpus == 0, "'", key, "' ", gpus, " does not divide the ", count, " ", what,
          ": give a divisor");
}

void check_experts(const Architecture& model, const Task& task) {
  require(model.experts || task.ep == 1, "'ep' is for models with experts: leave it out");
  if (!model.experts) return;
  require((task.dp * task.fsdp) % task.ep == 0 || task.tp % task.ep == 0, "'ep' ", task.ep,
          " divides neither dp times fsdp nor tp: give a divisor of one");
  check_divides("ep", "experts", static_cast<std::int64_t>(model.experts->count), task.ep);
  check_divides("tp", "elements of an expert's width",
                static_cast<std::int64_t>(model.experts->intermediate), expert_group(task).shares);
}

}  // namespace

bool chunks_loss(const Architecture& model, const Task& task) {
  return task.chunked_loss && task.phase == Phase::train && size_bytes(task.dtype) == 2 &&
         task.tp == 1 && !model.pooled;
}

ExpertGroup expert_group(const Task& task) {
  if ((task.dp * task.fsdp) % task.ep == 0) return {task.ep, task.tp};
  return {1, task.tp / task.ep};
}

std::string_view routing_of(const Architecture& model, const Task& task) {
  const bool balanced = model.experts && model.experts->balanced;
  const Routing trained = balanced ? Routing::power_law_101 : Routing::power_law_120;
  const Routing routing = task.routing == Routing::as_trained ? trained : task.routing;
  return kRoutings[static_cast<std::size_t>(routing)];
}

double parameters_of_gpu(const Architecture& model, const Task& task) {
  const ParameterCounts counts = count_parameters(model);
  const double tp = as_double(task.tp), fsdp = as_double(task.fsdp), pp = as_double(task.pp);
  const double copies = as_double(expert_group(task).copies);
  const double last = model.tied ? as_double(model.vocabulary * model.hidden) : counts.head;
  const double ends = task.pp > 1 ? std::max(counts.embeddings, last) : counts.ends();
  return (counts.unrouted() / pp + ends) / (tp * fsdp) +
         counts.routed / pp / (tp * std::max(fsdp, copies));
}

void check(const Architecture& model, const Task& task) {
  constexpr std::array kTypes = {DType::bf16, DType::fp16, DType::fp32, DType::fp8};
  require(std::find(kTypes.begin(), kTypes.end(), task.dtype) != kTypes.end(),
          "'dtype' of a step is bf16, fp16, fp32 or fp8");
  require(task.dtype != DType::fp8 || task.phase != Phase::train,
          "'dtype' of a training step is bf16, fp16 or fp32");
  check_divides("tp", "attention heads", model.heads, task.tp);
  // With more GPUs than key and value heads, several GPUs hold the same head.
  if (task.tp <= model.kv_heads || model.kv_heads == 0 || task.tp % model.kv_heads != 0) {
    check_divides("tp", "key and value heads", model.kv_heads, task.tp);
  }
  check_divides("tp", "elements of intermediate_size", model.intermediate, task.tp);
  check_experts(model, task);
  require(task.pp == 1 || task.phase == Phase::train,
          "'pp' goes with train: other steps pass all stages one after the other");
  check_divides("pp", "layers", model.layers, task.pp);
  require(task.phase != Phase::decode || model.causal,
          "'decode' asks for a decoder, and this model is an encoder");
}

std::optional<std::string> positions_note(const Architecture& model, const Task& task) {
  const bool decodes = task.phase == Phase::decode;
  const std::int64_t computed = decodes && task.prompts == 0 ? 0 : task.seq;
  const std::int64_t longest = std::max(computed, decodes ? task.context : 0);
  const std::int64_t most = model.positions - model.padded_positions;
  if (model.positions == 0 || longest <= most) return std::nullopt;
  return message("the model has learned positions for ", most, " tokens, and a sequence has ",
                 longest, ": it runs with a longer table only");
}

}  // namespace roofcast::transformer
