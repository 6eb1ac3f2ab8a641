#pragma once
// Adds the kernels and transfers of a step, each with its section and direction.
#include <array>
#include <initializer_list>
#include <numeric>
#include <string_view>
#include <utility>
#include <vector>

#include "model/transformer/step.hpp"
#include "model/types/quantity_text.hpp"

namespace roofcast::transformer {

// Names of parts that other files look for.
inline constexpr std::string_view kAttention = "attention";
inline constexpr std::string_view kWeightsBetweenGpus = "gradients and weights between GPUs";

/// Consecutive operations: a section in one direction.
struct StepSegment {
  Section section;
  Direction direction;  ///< backward includes recomputation

  bool is_forward() const { return direction == Direction::forward; }
  bool has(const StepOperation& one) const {
    return one.section == section && (one.direction == Direction::forward) == is_forward();
  }
};
/// In the order of a step; Section::once follows the last pass.
inline constexpr std::array kStepSegments = {StepSegment{Section::begin, Direction::forward},
                                             StepSegment{Section::layer, Direction::forward},
                                             StepSegment{Section::end, Direction::forward},
                                             StepSegment{Section::end, Direction::backward},
                                             StepSegment{Section::layer, Direction::backward},
                                             StepSegment{Section::begin, Direction::backward},
                                             StepSegment{Section::once, Direction::forward}};

/// Puts the operation in a section, in one run per pass and layer; Section::once has one run.
inline void place(StepOperation& one, Section section, const Task& task, std::int64_t first_layer,
                  std::int64_t last_layer) {
  one.section = section;
  one.first_layer = first_layer;
  one.last_layer = last_layer;
  one.count = section == Section::once ? 1 : task.passes();
  if (section == Section::layer) one.count *= as_double(last_layer - first_layer);
}

/// Base of the composers: adds operations to the section and layers set last.
class Composer {
 public:
  Composer(Step& step, const Architecture& model, const Task& task, KernelForecasts& forecasts)
      : step_(step), model_(model), task_(task), forecasts_(forecasts) {}

 protected:
  /// Sets where later operations go: for Section::layer, layers [first, last).
  void at(Section section, std::int64_t first, std::int64_t last) {
    here_.direction = Direction::forward;
    place(here_, section, task_, first, last);
  }
  void at(Section section) { at(section, 0, model_.layers); }

  // Adds kernels of the forward pass; `again`: the backward pass recomputes those of layers.
  template <class Add>
  void forward(bool again, const Add& add) {
    here_.direction = Direction::forward;
    add();
    if (!again || here_.section != Section::layer) return;
    here_.direction = Direction::again;
    add();
  }
  template <class Add>
  void backward(const Add& add) {
    if (!train_) return;
    here_.direction = Direction::backward;
    add();
  }

  // Adds kernels of both passes: calls `add` with the pass's name.
  template <class Add>
  void in_each_pass(bool again, const Add& add) {
    forward(again, [&] { add("forward"); });
    backward([&] { add("backward"); });
  }

  /// Adds launches to a part, `times` per run of the section.
  void add(std::string_view part, std::string_view kernel, DType type,
           std::initializer_list<Given> given, double times = 1) {
    if (here_.count <= 0) return;
    const KernelForecasts::One& one = forecasts_.of(kernel, type, given);
    StepOperation added = here_;
    added.part = part;
    added.what = one.what;
    added.count *= times;
    added.launches = added.count * as_double(one.launches);
    added.calls = kernel == "gemm.library" ? added.count : added.launches;
    added.bound = one.bound;
    added.use = one.use;
    step_.limit_s += added.count * one.limit_s;
    step_.add_operation(std::move(added), one.time);
  }

  /// Adds a collective per run of the section, if it has several GPUs.
  void send(std::string_view part, const Transfer& transfer, Order order = Order::in_turn,
            bool last_pass = false) {
    StepOperation one = here_;
    if (last_pass) one.count /= task_.passes();
    if (transfer.gpus < 2 || one.count <= 0 || transfer.bytes <= 0) return;
    const Gpu& gpu = forecasts_.gpu();
    const CollectiveForecast time = predict_collective(transfer, gpu, task_.network_bytes_per_s);
    one.part = part;
    one.what = message("collective.", name(transfer.kind), " ", si_text(transfer.bytes, "B"),
                       " gpus=", static_cast<std::int64_t>(transfer.gpus));
    one.bound = "link";
    one.use = use_of(transfer, time.expected_s, gpu);
    one.order = order;
    one.last_pass = last_pass;
    if (order == Order::in_turn) step_.limit_s += one.count * time.limit_s;
    step_.add_operation(std::move(one), time);
  }
  /// Adds the all-reduce of partial sums after a GEMM that the GPUs of tp split along k.
  void add_partial_sums() {
    const Transfer sum{Collective::all_reduce, row_bytes() * tokens_, tp_};
    in_each_pass(all_again_, [&](std::string_view) { send("tensor-parallel sums", sum); });
  }
  double row_bytes() const { return hidden_ * task_.activation_bytes(); }

  /// `batch` GEMMs C[m,n] = A[m,k]·B[k,n]; B is stored as [n,k], as PyTorch stores weights.
  struct Product {
    double m, n, k, batch = 1;
    std::string_view epilogue{}, layout = "nt";
  };
  void product(std::string_view part, const Product& of, double times = 1) {
    product(part, task_.dtype, of, times);
  }
  void product(std::string_view part, DType type, const Product& of, double times = 1) {
    const bool plain = of.epilogue.empty();
    const std::string_view quantized = type == DType::fp8 ? "activations" : "nothing";
    add(part, "gemm.library", type,
        {{"m", of.m},
         {"n", of.n},
         {"k", of.k},
         {"layout", of.layout},
         plain ? Given("batch", of.batch) : Given(),
         plain ? Given("quantize", quantized) : Given("epilogue", of.epilogue)},
        times);
  }
  /// Adds copies by `launches` kernels; `elements` counts all reads and writes.
  void move(std::string_view part, double elements, double launches = 1) {
    add(part, "stream.copy", wide_, {{"n", elements / launches / 2}}, launches);
  }

  // A linear layer: the forward GEMM, and the gradients of its input and of its weights; the first
  // two may have epilogues. Code compiled by PyTorch copies matrices to pad their rows
  // (torch/_inductor/fx_passes/pad_mm.py).
  void linear(std::string_view part, double tokens, double n, double k,
              std::string_view epilogue = {}, std::string_view backward_epilogue = {}) {
    const double outputs = padded(n), inputs = padded(k);
    const auto pad = [&](double elements) {
      if (by_pytorch_ && outputs + inputs > n + k) move(part, 2 * elements);
    };
    forward(all_again_, [&] {
      pad(n * k);
      product(part, {tokens, outputs, inputs, 1, epilogue});
    });
    backward([&] {
      pad(n * k);
      pad(tokens * n);
      product(part, {tokens, inputs, outputs, 1, backward_epilogue, "nn"});
      product(part, {inputs, outputs, tokens, 1, {}, "tn"});
    });
  }
  /// Features in a GEMM: all software but eager code pads rows to multiples of 16 bytes.
  double padded(double features) const {
    const double aligned = 16 / size_bytes(task_.dtype);
    return eager_ ? features : std::ceil(features / aligned) * aligned;
  }

  // Linear layers of one input: one GEMM each in PyTorch's models, one for all if `joined` or in
  // serving. Eager code sums the input's gradients in further launches; compiled code fuses them.
  void linears(std::string_view part, const std::vector<double>& widths, bool joined = false) {
    if (joined || !by_pytorch_) {
      const double all = std::accumulate(widths.begin(), widths.end(), 0.0);
      return linear(part, tokens_, all, hidden_);
    }
    for (const double n : widths) linear(part, tokens_, n, hidden_);
    if (!eager_) return;
    backward([&] {
      for (std::size_t i = 1; i < widths.size(); ++i) {
        one_pass("residuals", "layer.add", tokens_, hidden_, "backward");
      }
    });
  }

  // Biases of `layers` linear layers with `elements` outputs in all; their gradients sum dY.
  void add_biases(double elements, double layers) {
    if (task_.framework == Framework::ideal) return;
    backward([&] { move("biases", elements, layers); });
  }

  /// A kernel of the family "layer" over rows and columns, and its gradient.
  void between(std::string_view part, std::string_view kernel, double rows, double cols,
               const Given& more = {}) {
    in_each_pass(between_again_,
                 [&](std::string_view pass) { one_pass(part, kernel, rows, cols, pass, more); });
  }
  void one_pass(std::string_view part, std::string_view kernel, double rows, double cols,
                std::string_view pass, const Given& more = {}) {
    add(part, kernel, wide_, {{"rows", rows}, {"cols", cols}, {"pass", pass}, more});
  }

  /// The parameter `form` of kernels that have an eager and a fused form.
  Given form() const { return {"form", eager_ ? "eager" : "fused"}; }

  void add_dropout(std::string_view part, double rows, double cols) {
    if (train_ && task_.dropout) between(part, "layer.dropout", rows, cols);
  }

  Step& step_;
  const Architecture& model_;
  const Task& task_;
  KernelForecasts& forecasts_;
  bool train_ = task_.phase == Phase::train;
  bool eager_ = task_.framework == Framework::eager;
  bool by_pytorch_ = launched_by_pytorch(task_);
  bool all_again_ = train_ && task_.checkpointing == Checkpointing::full;
  bool between_again_ = train_ && task_.checkpointing != Checkpointing::none;
  DType wide_ = task_.wide_dtype();  ///< of kernels between GEMMs
  double tokens_ = task_.tokens();
  double hidden_ = as_double(model_.hidden);
  double tp_ = as_double(task_.tp);

 private:
  StepOperation here_;
};

/// Adds all kernels and transfers: partial sums and experts' rows in turn, gradients and weights
/// overlapped. Throws InputError if a kernel has no forecast or the link is unknown.
void add_layers(Step& step, const Architecture& model, const Task& task,
                KernelForecasts& forecasts);

/// Schedules the overlapped transfers with the launches: an operation in turn then takes its time
/// in the schedule, an overlapped one its exposed time. A layer's weights are gathered during the
/// layer before, at most two layers' at once (FSDP: Zhao et al. 2023, arXiv 2304.11277, sections
/// 3.3.1 and 3.3.2); gradients are sent while preceding layers compute theirs.
void overlap(Step& step, const Task& task);

/// Adds attention with its projections to the composer's layers.
void add_attention(const Composer& composer);

}  // namespace roofcast::transformer
