#pragma once
// What the parts of a step are put together with: forward, again and backward, times and widths.
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "model/counting/integers.hpp"
#include "model/transformer/step_kernels.hpp"

namespace roofcast::transformer {

class Composer {
 public:
  Composer(const Architecture& model, const Task& task, StepKernels& kernels)
      : model_(model),
        task_(task),
        kernels_(kernels),
        train_(task.phase == Phase::train),
        all_again_(train_ && task.checkpointing == Checkpointing::full),
        between_again_(train_ && task.checkpointing != Checkpointing::none) {}

 protected:
  static std::int64_t whole(double count) { return static_cast<std::int64_t>(count); }
  bool eager() const { return task_.framework == Framework::eager; }

  double passes() const { return task_.passes(); }
  double layers() const { return passes() * as_double(model_.layers); }
  double tp() const { return as_double(task_.tp); }
  double hidden() const { return as_double(model_.hidden); }

  // What the forward pass does, and the backward pass again; of layers alone.
  template <class Add>
  void forward(bool again, const Add& add) {
    kernels_.at(section_, Direction::forward);
    add();
    if (!again || section_ != Section::layer) return;
    kernels_.at(section_, Direction::again);
    add();
  }
  template <class Add>
  void backward(const Add& add) {
    if (!train_) return;
    kernels_.at(section_, Direction::backward);
    add();
  }

  // Forward, and the gradients of its input and of its weights.
  void linear(std::string_view part, double times, double tokens, double n, double k) {
    forward(all_again_, [&] { kernels_.product(part, times, tokens, n, k); });
    backward([&] {
      kernels_.product(part, times, tokens, k, n);
      kernels_.product(part, times, k, n, tokens);
    });
  }

  // A bias's gradient is a sum over what its product's gradients read. A compiler adds it up on the
  // way.
  void add_biases(double times, double elements) {
    if (task_.framework != Framework::eager) return;
    backward([&] { kernels_.move("biases", times, elements); });
  }

  /// A kernel of the family "layer" over rows and columns, forward and its gradient.
  void between(std::string_view part, std::string_view kernel, double times, double rows,
               double cols, std::span<const Given> more = {}) {
    forward(between_again_, [&] { one_pass(part, kernel, times, rows, cols, "forward", more); });
    backward([&] { one_pass(part, kernel, times, rows, cols, "backward", more); });
  }

  void one_pass(std::string_view part, std::string_view kernel, double times, double rows,
                double cols, std::string_view pass, std::span<const Given> more = {}) {
    std::vector<Given> given = {{"rows", whole(rows)}, {"cols", whole(cols)}, {"pass", 0, pass}};
    given.insert(given.end(), more.begin(), more.end());
    kernels_.add(part, times, kernel, given);
  }

  /// How the framework launches what has more than one form.
  Given form() const { return {"form", 0, eager() ? "eager" : "fused"}; }

  void add_dropout(std::string_view part, double times, double rows, double cols) {
    if (train_ && task_.dropout) between(part, "layer.dropout", times, rows, cols);
  }

  const Architecture& model_;
  const Task& task_;
  StepKernels& kernels_;
  bool train_;
  bool all_again_;
  bool between_again_;
  Section section_ = Section::begin;
};

/// Attention of all layers, its products among it.
void add_attention(const Architecture& model, const Task& task, StepKernels& kernels);

}  // namespace roofcast::transformer
