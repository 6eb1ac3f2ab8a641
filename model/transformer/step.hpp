#pragma once
// The time of a step: forecasts of its kernels, its collectives, and what software adds.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/transformer/schedule.hpp"
#include "model/transformer/task.hpp"
#include "model/types/gpu.hpp"

namespace roofcast::transformer {

/// All operations of one name in all layers and passes. The parts add up to the step.
struct StepPart : Duration {
  std::string name;
  std::string bound{};  ///< bound of its longest operation: a Resource, link, host, pipeline
};

/// Place of an operation in a step: before the layers, in each, after them, once per step.
enum class Section : unsigned char { begin, layer, end, once };
enum class Direction : unsigned char { forward, again, backward };
inline constexpr std::array<std::string_view, 3> kDirections = {"forward", "forward again",
                                                                "backward"};

/// When an operation runs. in_turn: after the operation before it. Transfers that overlap launches:
/// before_layer ends before its layer begins, after_layer starts after its layer's gradients.
enum class Order : unsigned char { in_turn, before_layer, after_layer };

/// An operation's name and place in a step.
struct Run {
  std::string part{};
  std::string what{};   ///< the kernel and its shape: "gemm.library m=8192 n=4800 k=1600"
  std::string bound{};  ///< as StepPart::bound
  Section section = Section::layer;
  Direction direction = Direction::forward;
};

/// Equal kernels or transfers and their summed time; for overlapped transfers, the exposed time.
/// Operations are in the order of the forward pass.
struct StepOperation : Run, Duration {
  double count = 0;              ///< runs of the kernel in the step
  double launches = 0;           ///< launches of all these runs
  double calls = 0;              ///< of the host: one GEMM is one, whatever it launches
  std::int64_t first_layer = 0;  ///< in Section::layer: first layer with it
  std::int64_t last_layer = 0;   ///< one past the last layer with it
  Use use{};
  double alone_s = 0;  ///< summed time without sharing GPU and link
  Order order = Order::in_turn;
  bool last_pass = false;  ///< runs in the last pass only
};

/// Time of one GPU's transfers in a step.
struct StepTransfers {
  double alone_s = 0;    ///< all transfers, one after the other
  double hidden_s = 0;   ///< overlapped with launches
  double exposed_s = 0;  ///< while no launch runs
  double slowed_s = 0;   ///< time that launches lose to transfers' use of SMs and DRAM
};

struct Step : Duration {
  std::int64_t layers = 0;  ///< on one GPU: those of its pipeline stage
  double tokens_per_s = 0;  ///< of all GPUs together
  double mfu = 0;           ///< model FLOPs utilization of the datasheet's peak
  double hfu = 0;           ///< as mfu, with recomputed FLOPs
  double limit_s = 0;       ///< sum of the limits of kernels and in-turn collectives
  std::vector<StepPart> parts;
  std::vector<StepOperation> operations;
  StepTransfers transfers;
  std::vector<std::string> notes;

  /// Adds an operation whose runs take `each`.
  void add_operation(StepOperation one, const Duration& each) {
    one.add(one.count, each);
    one.alone_s = one.expected_s;
    operations.push_back(std::move(one));
  }
};

/// A parameter's name, with a number or a choice's name. An empty name is ignored.
struct Given {
  std::string_view name{};
  std::int64_t number = 0;
  std::string_view word{};

  Given() = default;
  Given(std::string_view parameter, std::int64_t value) : name(parameter), number(value) {}
  /// Rounded to the nearest integer, at least 1.
  Given(std::string_view parameter, double value)
      : name(parameter), number(std::max<std::int64_t>(1, std::llround(value))) {}
  Given(std::string_view parameter, std::string_view choice) : name(parameter), word(choice) {}
};

/// Cached forecasts of kernels on one GPU, each for one SM clock.
class KernelForecasts {
 public:
  explicit KernelForecasts(const Gpu& gpu) : gpu_(gpu) {}
  const Gpu& gpu() const { return gpu_; }
  /// Further forecasts assume a clock slowed by this: Assumptions::clock_slowdown.
  void slow_clock(double slowdown) { slowdown_ = slowdown; }

  struct One {
    std::string what;        ///< the kernel and its parameters
    std::string_view bound;  ///< as StepPart::bound
    Duration time;
    double limit_s = 0;
    std::int64_t launches = 0;
    Use use{};
  };
  /// In CacheState::steady: kernels run back to back. Throws InputError if there is no forecast.
  const One& of(std::string_view kernel, DType dtype, std::initializer_list<Given> given);
  /// Number of distinct forecasts so far.
  std::size_t count() const { return known_.size(); }

 private:
  const Gpu& gpu_;
  double slowdown_ = 0;
  std::map<std::string, One, std::less<>> known_;
  std::string key_;  ///< key of the current lookup; a member, so that its memory is reused
};

/// worked_s of steps that run until the clock has settled.
inline constexpr double kForLong = std::numeric_limits<double>::infinity();

/// Forecasts one step: train, with grad_accum passes and the optimizer; prefill; or decode of one
/// token per sequence. Equal layers are forecast once. Experts are chosen by Task::routing; their
/// gradients take twice the time of their forward pass. Steps run for `worked_s` without a pause:
/// the mean power of a step sets the clock of all its kernels. Throws InputError as check(), and if
/// a kernel or collective has no forecast.
Step predict_step(const Architecture& model, const Task& task, const Gpu& gpu);
/// On the GPU of `forecasts`, which several steps may share.
Step predict_step(const Architecture& model, const Task& task, KernelForecasts& forecasts,
                  double worked_s = kForLong);

/// One run of an operation: in one layer and pass, with its time.
struct TimelineEvent : Run {
  std::int64_t layer = 0;  ///< index from 0, in Section::layer
  double start_s = 0;
  double duration_s = 0;
  bool transfer = false;
  bool beside = false;  ///< overlaps launches (Order other than in_turn)
};

/// The last pass and Section::once on one GPU: events in turn, then overlapped transfers.
std::vector<TimelineEvent> timeline(const Step& step, const Task& task);

}  // namespace roofcast::transformer
