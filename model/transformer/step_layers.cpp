#include <algorithm>
#include <vector>

#include "model/transformer/step_composer.hpp"

namespace roofcast::transformer {
namespace {

constexpr std::string_view kNorms = "norms";
constexpr std::string_view kFeedForward = "feed-forward products";

class LayersComposer : public Composer {
 public:
  using Composer::Composer;

  void compose() {
    at(Section::begin);
    add_embedding();
    at(Section::layer);
    add_residual_norm();
    add_attention(*this);
    add_residual();
    add_residual_norm();
    add_feed_forward();
    at(Section::layer);
    add_partial_sums();
    add_residual();
    at(Section::end);
    add_norm();
    add_head();
    at(Section::once);
    if (task_.passes() > 1) add_accumulation();
    if (train_) add_optimizer();
    at(Section::layer);
    add_weight_transfers();
  }

 private:
  void add_feed_forward() {
    if (!model_.experts) return add_dense(as_double(model_.intermediate));
    const auto dense = static_cast<std::int64_t>(model_.experts->dense_layers);
    at(Section::layer, 0, dense);
    add_dense(as_double(model_.intermediate));
    at(Section::layer, dense, model_.layers);
    add_experts(*model_.experts);
  }

  void add_dense(double width) {
    if (width <= 0) return;
    const double inner = width / tp_, up = model_.gated ? 2 * inner : inner;
    const bool fused = activation_in_epilogue();
    if (fused) {
      linear(kFeedForward, tokens_, inner, hidden_, train_ ? "gelu_aux" : "gelu");
    } else {
      linears(kFeedForward, std::vector<double>(model_.gated ? 2 : 1, inner));
      add_activation(inner);
    }
    linear(kFeedForward, tokens_, hidden_, inner, {}, fused ? "dgelu" : "");
    if (model_.feed_forward_biased) {
      add_biases(tokens_ * (up + hidden_), model_.gated && by_pytorch_ ? 3 : 2);
    }
  }

  // cuBLASLt's epilogues have GELU and its gradient, but no SwiGLU. A recomputed GELU is a launch.
  bool activation_in_epilogue() const {
    return task_.framework == Framework::ideal && !model_.gated && task_.dtype != DType::fp8 &&
           task_.dtype != DType::fp32 && task_.checkpointing != Checkpointing::selective;
  }

  void add_activation(double inner) {
    const std::string_view kernel = model_.gated        ? "layer.swiglu"
                                    : model_.plain_gelu ? "layer.gelu_new"
                                                        : "layer.gelu";
    const bool one_form = !model_.gated && !model_.plain_gelu;
    between("activation", kernel, tokens_, inner, one_form ? Given{} : form());
  }

  // Backward counts two passes: the gradients of the input and those of the weights.
  void add_experts(const Experts& experts) {
    const ExpertGroup group = expert_group(task_);
    const Transfer rows{Collective::alltoall, row_bytes() * tokens_ * experts.per_token / tp_,
                        as_double(group.copies), tp_};
    const auto pass = [&](double times) {
      product("router", wide_, {tokens_, experts.count, hidden_}, times);
      send("rows to experts and back", rows);
      add("experts", "moe.library", task_.dtype,
          {{"tokens", tokens_ * as_double(group.copies)},
           {"hidden", model_.hidden},
           {"intermediate", experts.intermediate / as_double(group.shares)},
           {"experts", experts.count},
           {"per_token", experts.per_token},
           {"ep", task_.ep},
           {"routing", routing_of(model_, task_)}},
          times);
      send("rows to experts and back", rows);
    };
    forward(all_again_, [&] { pass(1); });
    backward([&] { pass(2); });
    add_dense(experts.shared * experts.intermediate);
  }

  // A fused norm includes the residual addition before it; a layer's first norm includes the
  // previous layer's last addition. In eager code the addition is a separate launch.
  void add_residual_norm() {
    if (eager_) return add_norm();
    add_dropout("dropout", tokens_, hidden_);
    between(kNorms, "layer.residual_norm", tokens_, hidden_, form());
  }

  void add_residual() {
    if (!eager_) return;
    add_dropout("dropout", tokens_, hidden_);
    between("residuals", "layer.add", tokens_, hidden_);
  }

  void add_norm() {
    if (model_.rms_norm && eager_) {
      return between(kNorms, "layer.rmsnorm_plain", tokens_, hidden_, form());
    }
    const std::string_view kind = model_.rms_norm ? "rmsnorm" : "layernorm";
    forward(between_again_, [&] {
      add(kNorms, "norm.library", wide_, {{"rows", tokens_}, {"cols", hidden_}, {"kind", kind}});
    });
    backward([&] { one_pass(kNorms, "layer.norm_backward", tokens_, hidden_, "backward"); });
  }

  // Learned vectors of positions and of token types each take a further lookup and an addition.
  void add_embedding() {
    constexpr std::string_view kPart = "embedding";
    between(kPart, "layer.embedding", tokens_, hidden_, {"entries", model_.vocabulary});
    for (const std::int64_t entries : {model_.positions, model_.token_types}) {
      if (entries <= 0) continue;
      between(kPart, "layer.embedding", tokens_, hidden_, {"entries", entries});
      between(kPart, "layer.add", tokens_, hidden_);
    }
    add_dropout(kPart, tokens_, hidden_);
  }

  void add_head() {
    if (model_.pooled) return linear("pooler", as_double(task_.batch), hidden_, hidden_);
    constexpr std::string_view kPart = "vocabulary product";
    const double vocabulary = as_double(model_.vocabulary) / tp_;
    const double rows = task_.answers();
    if (task_.dtype == DType::fp8) return product(kPart, wide_, {rows, vocabulary, hidden_});
    if (chunks_loss(model_, task_)) {
      return forward(false, [&] {
        add("vocabulary product and loss", "layer.linear_cross_entropy", wide_,
            {{"rows", rows}, {"cols", vocabulary}, {"hidden", hidden_}, {"pass", "backward"}});
      });
    }
    linear(kPart, rows, vocabulary, hidden_);
    if (train_) between("loss", "layer.cross_entropy", rows, vocabulary, form());
  }

  // AdamW runs in fp32 or in the type of the weights. SGD reads two arrays and writes one.
  void add_optimizer() {
    constexpr std::string_view kPart = "optimizer";
    const double parameters = parameters_of_gpu(model_, task_);
    if (task_.optimizer == Optimizer::sgd) return move(kPart, 3 * parameters);
    constexpr double kCols = 1024;
    add(kPart, "layer.adamw", task_.optimizer == Optimizer::adamw ? DType::fp32 : task_.dtype,
        {{"rows", parameters / kCols}, {"cols", kCols}, {"form", eager_ ? "foreach" : "fused"}});
  }

  // PyTorch accumulates the gradients of each pass but the first, tensor by tensor; a GEMM epilogue
  // can do this instead.
  void add_accumulation() {
    if (task_.framework == Framework::ideal) return;
    const double later = task_.passes() - 1;
    move("gradients added", 3 * later * parameters_of_gpu(model_, task_), later);
  }

  // fsdp GPUs shard a layer's weights, dp GPUs replicate them; experts are spread over `copies`.
  void add_weight_transfers() {
    const double fsdp = as_double(task_.fsdp), dp = as_double(task_.dp);
    const double copies = as_double(expert_group(task_).copies);
    const double gathered = std::max(1.0, fsdp / copies);
    const double of_layer = size_bytes(task_.dtype) / tp_ / as_double(model_.layers);
    const ParameterCounts counts = count_parameters(model_);
    const double rest = (counts.unrouted() + counts.ends()) * of_layer;
    const double experts = counts.routed / copies * of_layer;
    add_weights({Collective::all_gather, rest, fsdp, tp_},
                {Collective::all_reduce, rest / fsdp, dp, tp_ * fsdp});
    add_weights({Collective::all_gather, experts, gathered, tp_ * copies},
                {Collective::all_reduce, experts / gathered, dp * fsdp / copies / gathered,
                 tp_ * copies * gathered});
  }

  // Gathers weights, reduce-scatters gradients, all-reduces these in the last pass.
  void add_weights(Transfer weights, const Transfer& summed) {
    forward(false, [&] { send(kWeightsBetweenGpus, weights, Order::before_layer); });
    backward([&] {
      send(kWeightsBetweenGpus, weights, Order::before_layer);
      weights.kind = Collective::reduce_scatter;
      send(kWeightsBetweenGpus, weights, Order::after_layer);
      send(kWeightsBetweenGpus, summed, Order::after_layer, true);
    });
  }
};

}  // namespace

void add_layers(Step& step, const Architecture& model, const Task& task,
                KernelForecasts& forecasts) {
  LayersComposer(step, model, task, forecasts).compose();
}

}  // namespace roofcast::transformer
