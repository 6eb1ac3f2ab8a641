#include "model/transformer/step_layers.hpp"

#include <algorithm>
#include <array>

#include "model/transformer/step_composer.hpp"

namespace roofcast::transformer {
namespace {

class LayersComposer : public Composer {
 public:
  using Composer::Composer;

  void compose() {
    kernels_.of_layers(0, model_.layers);
    section_ = Section::begin;
    add_embedding();
    section_ = Section::layer;
    add_residual_norm(false);
    transformer::add_attention(model_, task_, kernels_);
    add_residual_norm(true);
    add_feed_forward();
    if (eager()) add_residual();
    section_ = Section::end;
    add_norm(passes());
    if (!model_.pooled) add_head();
    section_ = Section::once;
    if (train_) add_optimizer();
  }

 private:
  void add_feed_forward() {
    const auto dense = whole(dense_layers() / passes());
    kernels_.of_layers(0, dense);
    add_dense(dense_layers(), as_double(model_.intermediate));
    kernels_.of_layers(dense, model_.layers);
    if (model_.experts) add_experts(*model_.experts);
    kernels_.of_layers(0, model_.layers);
  }

  double dense_layers() const {
    return passes() * (model_.experts ? model_.experts->dense_layers : as_double(model_.layers));
  }

  void add_dense(double layers, double width) {
    if (layers <= 0 || width <= 0) return;
    const double inner = width / tp();
    const double up = model_.gated ? 2 * inner : inner;
    if (activation_in_epilogue()) return add_dense_with_epilogues(layers, inner);
    linear("feed-forward products", layers, task_.tokens(), up, hidden());
    add_activation(layers, inner);
    linear("feed-forward products", layers, task_.tokens(), hidden(), inner);
    if (model_.feed_forward_biased) add_biases(layers, task_.tokens() * (up + hidden()));
  }

  // cuBLASLt has GELU and its gradient, and no SwiGLU; what is computed again has a launch of its
  // own.
  bool activation_in_epilogue() const {
    return task_.framework == Framework::ideal && !model_.gated && task_.dtype != DType::fp8 &&
           task_.dtype != DType::fp32 && task_.checkpointing != Checkpointing::selective;
  }

  void add_dense_with_epilogues(double layers, double inner) {
    constexpr std::string_view kPart = "feed-forward products";
    const double tokens = task_.tokens();
    forward(all_again_, [&] {
      kernels_.product_with(train_ ? "gelu_aux" : "gelu", kPart, layers, tokens, inner, hidden());
      kernels_.product(kPart, layers, tokens, hidden(), inner);
    });
    backward([&] {
      kernels_.product_with("dgelu", kPart, layers, tokens, inner, hidden());
      kernels_.product(kPart, layers, inner, hidden(), tokens);
      kernels_.product(kPart, layers, tokens, hidden(), inner);
      kernels_.product(kPart, layers, hidden(), inner, tokens);
    });
  }

  void add_activation(double layers, double inner) {
    constexpr std::string_view kPart = "activation";
    const std::array more = {form()};
    if (model_.gated) return between(kPart, "layer.swiglu", layers, task_.tokens(), inner, more);
    if (model_.plain_gelu) {
      return between(kPart, "layer.gelu_new", layers, task_.tokens(), inner, more);
    }
    between(kPart, "layer.gelu", layers, task_.tokens(), inner);
  }

  // The gradients of the input and of the weights take a pass each.
  void add_experts(const Experts& experts) {
    const double layers = this->layers() - dense_layers();
    const ExpertGroup group = expert_group(task_);
    const auto route = [&](double times) {
      kernels_.wide_product("router", times, task_.tokens(), experts.count,
                            as_double(model_.hidden));
    };
    const std::array given = {Given{"tokens", whole(task_.tokens()) * group.copies},
                              Given{"hidden", model_.hidden},
                              Given{"intermediate", whole(experts.intermediate) / group.shares},
                              Given{"experts", whole(experts.count)},
                              Given{"per_token", whole(experts.per_token)},
                              Given{"ep", task_.ep},
                              Given{"routing", 0, routing_of(model_, task_)}};
    const auto pass = [&](double times) {
      kernels_.add_narrow("experts", times, "moe.library", given);
    };
    forward(all_again_, [&] {
      route(layers);
      pass(layers);
    });
    backward([&] {
      route(2 * layers);
      pass(2 * layers);
    });
    add_dense(layers, experts.shared * experts.intermediate);
  }

  // Fused, a norm takes in the sum before it: that of the first norm of a layer is of the layer
  // before. Eager, the sum is a launch of its own.
  void add_residual_norm(bool after_attention) {
    if (eager()) {
      if (after_attention) add_residual();
      return add_norm(layers());
    }
    add_dropout("dropout", layers(), task_.tokens(), hidden());
    between("norms", "layer.residual_norm", layers(), task_.tokens(), hidden(), std::array{form()});
  }

  void add_residual() {
    add_dropout("dropout", layers(), task_.tokens(), hidden());
    between("residuals", "layer.add", layers(), task_.tokens(), hidden());
  }

  void add_norm(double times) {
    constexpr std::string_view kPart = "norms";
    if (model_.rms_norm && eager()) {
      return between(kPart, "layer.rmsnorm_plain", times, task_.tokens(), hidden(),
                     std::array{form()});
    }
    const std::array rows = {Given{"rows", whole(task_.tokens())}, Given{"cols", model_.hidden},
                             Given{"kind", 0, model_.rms_norm ? "rmsnorm" : "layernorm"}};
    forward(between_again_, [&] { kernels_.add(kPart, times, "norm.library", rows); });
    backward([&] {
      one_pass(kPart, "layer.norm_backward", times, task_.tokens(), hidden(), "backward");
    });
  }

  // Position vectors are looked up beside, and added.
  void add_embedding() {
    constexpr std::string_view kPart = "embedding";
    const auto look_up = [&](std::int64_t entries) {
      between(kPart, "layer.embedding", passes(), task_.tokens(), hidden(),
              std::array{Given{"entries", entries}});
    };
    look_up(model_.vocabulary);
    if (model_.positions > 0) {
      look_up(model_.positions);
      between(kPart, "layer.add", passes(), task_.tokens(), hidden());
    }
    add_dropout(kPart, passes(), task_.tokens(), hidden());
  }

  void add_head() {
    const double vocabulary = as_double(model_.vocabulary) / tp();
    const double rows = train_ || task_.all_logits ? task_.tokens() : task_.answers();
    if (task_.dtype == DType::fp8) {
      forward(false, [&] {
        kernels_.wide_product("vocabulary product", passes(), rows, vocabulary, hidden());
      });
    } else if (chunks_loss(model_, task_)) {
      const std::array given = {Given{"rows", whole(rows)}, Given{"cols", whole(vocabulary)},
                                Given{"hidden", model_.hidden}, Given{"pass", 0, "backward"}};
      kernels_.at(section_, Direction::forward);
      return kernels_.add("vocabulary product and loss", passes(), "layer.linear_cross_entropy",
                          given);
    } else {
      linear("vocabulary product", passes(), rows, vocabulary, hidden());
    }
    if (train_)
      between("loss", "layer.cross_entropy", passes(), rows, vocabulary, std::array{form()});
  }

  // AdamW in fp32, or in the type of the weights; gradient descent: two arrays in, one out.
  void add_optimizer() {
    kernels_.at(section_, Direction::forward);
    const double parameters = parameters_of_gpu(model_, task_);
    if (task_.optimizer == Optimizer::sgd) return kernels_.move(kOptimizer, 1, 3 * parameters);
    constexpr std::int64_t kCols = 1024;
    const std::array given = {Given{"rows", std::max<std::int64_t>(1, whole(parameters) / kCols)},
                              Given{"cols", kCols},
                              Given{"form", 0, eager() ? "foreach" : "fused"}};
    kernels_.add_of_type(kOptimizer, 1, "layer.adamw",
                         task_.optimizer == Optimizer::adamw ? DType::fp32 : task_.dtype, given);
  }
};

}  // namespace

void add_layers(const Architecture& model, const Task& task, StepKernels& kernels) {
  LayersComposer(model, task, kernels).compose();
}

}  // namespace roofcast::transformer
