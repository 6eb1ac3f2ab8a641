#pragma once
// What the parts of a step are put together with: forward, again and backward, times and widths.
#include <cstdint>
#include <string_view>

#include "model/transformer/step_kernels.hpp"
#include "model/transformer/step_moves.hpp"

namespace roofcast::transformer {

class Composer {
 public:
  Composer(const Architecture& model, const Task& task, StepKernels& kernels)
      : model_(model),
        task_(task),
        moves_(task.framework == Framework::eager ? kEager : kFused),
        kernels_(kernels),
        train_(task.phase == Phase::train),
        all_again_(train_ && task.checkpointing == Checkpointing::full),
        between_again_(train_ && task.checkpointing != Checkpointing::none) {}

 protected:
  static double real(std::int64_t count) { return static_cast<double>(count); }
  static std::int64_t whole(double count) { return static_cast<std::int64_t>(count); }
  bool eager() const { return task_.framework == Framework::eager; }

  double passes() const { return train_ ? real(task_.grad_accum) : 1; }
  double layers() const { return passes() * real(model_.layers); }
  double tp() const { return real(task_.tp); }
  double layer_elements() const { return task_.tokens() * real(model_.hidden); }

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

  // A bias's gradient is a sum over what its product's gradients read. A compiler adds it up on the way.
  void add_biases(double times, double elements) {
    if (task_.framework != Framework::eager) return;
    backward([&] { kernels_.move("biases", times, elements); });
  }

  void move(std::string_view part, const Movement& movement, double times, double elements) {
    forward(between_again_, [&] {
      kernels_.move(part, times, elements * movement.forward.passes, movement.forward.launches);
    });
    backward([&] {
      kernels_.move(part, times, elements * movement.backward.passes, movement.backward.launches);
    });
  }

  const Architecture& model_;
  const Task& task_;
  const Movements& moves_;
  StepKernels& kernels_;
  bool train_;
  bool all_again_;
  bool between_again_;
  Section section_ = Section::begin;
};

/// Attention of all layers, its products among it.
void add_attention(const Architecture& model, const Task& task, StepKernels& kernels);

}  // namespace roofcast::transformer
