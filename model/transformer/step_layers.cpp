#include "model/transformer/step_layers.hpp"

#include <algorithm>
#include <array>

#include "model/transformer/step_composer.hpp"
#include "model/types/problem.hpp"

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
    add_norm(layers());
    transformer::add_attention(model_, task_, kernels_);
    move("residuals", moves_.residual, layers(), layer_elements());
    add_norm(layers());
    add_feed_forward();
    move("residuals", moves_.residual, layers(), layer_elements());
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
    add_dense(dense_layers(), real(model_.intermediate));
    kernels_.of_layers(dense, model_.layers);
    if (model_.experts) add_experts(*model_.experts);
    kernels_.of_layers(0, model_.layers);
  }

  double dense_layers() const {
    return passes() * (model_.experts ? model_.experts->dense_layers : real(model_.layers));
  }

  void add_dense(double layers, double width) {
    if (layers <= 0 || width <= 0) return;
    const double inner = width / tp(), hidden = real(model_.hidden);
    const double up = model_.gated ? 2 * inner : inner;
    linear("feed-forward products", layers, task_.tokens(), up, hidden);
    const bool plain_gelu = model_.plain_gelu && eager();
    move("activation",
         model_.gated ? moves_.gate
         : plain_gelu ? kPlainGelu
                      : moves_.activation,
         layers, task_.tokens() * inner);
    linear("feed-forward products", layers, task_.tokens(), hidden, inner);
    if (model_.feed_forward_biased) add_biases(layers, task_.tokens() * (up + hidden));
  }

  // The gradients of the input and of the weights take a pass each.
  void add_experts(const Experts& experts) {
    const double layers = this->layers() - dense_layers();
    const ExpertGroup group = expert_group(task_);
    const auto route = [&](double times) {
      kernels_.wide_product("router", times, task_.tokens(), experts.count, real(model_.hidden));
    };
    const std::array given = {Given{"tokens", whole(task_.tokens()) * group.copies},
                              Given{"hidden", model_.hidden},
                              Given{"intermediate", whole(experts.intermediate) / group.shares},
                              Given{"experts", whole(experts.count)},
                              Given{"per_token", whole(experts.per_token)},
                              Given{"ep", task_.ep}};
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

  void add_norm(double times) {
    const bool plain = model_.rms_norm && moves_.plain_norm.forward.launches > 0;
    if (plain) return move("norms", moves_.plain_norm, times, layer_elements());
    const std::array rows = {Given{"rows", static_cast<std::int64_t>(task_.tokens())},
                             Given{"cols", model_.hidden},
                             Given{"kind", 0, model_.rms_norm ? "rmsnorm" : "layernorm"}};
    forward(between_again_, [&] { kernels_.add("norms", times, "norm.library", rows); });
    // x and dy in, dx out; both again for the gradients of γ and β.
    backward([&] { kernels_.move("norms", times, 5 * layer_elements(), 2); });
  }

  void add_embedding() {
    const double elements = layer_elements();
    forward(false, [&] { kernels_.move("embedding", passes(), 2 * elements); });
    backward([&] { kernels_.move("embedding", passes(), 3 * elements); });
  }

  void add_head() {
    const double hidden = real(model_.hidden);
    const double vocabulary = real(model_.vocabulary) / tp();
    const double rows = train_ || task_.all_logits ? task_.tokens() : real(task_.batch);
    if (task_.dtype == DType::fp8) {
      forward(false, [&] {
        kernels_.wide_product("vocabulary product", passes(), rows, vocabulary, hidden);
      });
    } else {
      linear("vocabulary product", passes(), rows, vocabulary, hidden);
    }
    const double bytes = task_.dtype == DType::fp32 ? moves_.wide_loss_bytes : moves_.loss_bytes;
    backward([&] {
      kernels_.move("loss", passes(), rows * vocabulary * bytes / size_bytes(task_.dtype));
    });
  }

  // AdamW: weights, gradients and two moments in, all but the gradients out, in fp32 or in the type of
  // the weights; gradient descent: two in, one out.
  void add_optimizer() {
    const double wide =
        task_.optimizer == Optimizer::adamw ? sizeof(float) / size_bytes(task_.dtype) : 1;
    const double passes = task_.optimizer == Optimizer::sgd ? 3 : 7;
    kernels_.at(section_, Direction::forward);
    kernels_.move(kOptimizer, 1, parameters_of_gpu(model_, task_) * passes * wide);
  }
};

}  // namespace

void add_layers(const Architecture& model, const Task& task, StepKernels& kernels) {
  LayersComposer(model, task, kernels).compose();
}

}  // namespace roofcast::transformer
