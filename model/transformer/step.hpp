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
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/constants/steps.hpp"
#include "model/transformer/schedule.hpp"
#include "model/transformer/task.hpp"
#include "model/types/gpu.hpp"

namespace roofcast::transformer {

/// The operations of one name, all layers and passes together. The parts add up to the step.
struct StepPart : Duration {
  std::string name;
  std::string bound{};  ///< what bounds its longest operation: a Resource, link, host or pipeline
};

/// Where an operation stands in a step: before the layers, in each, after them, once per step.
enum class Section : unsigned char { begin, layer, end, once };
enum class Direction : unsigned char { forward, again, backward };
inline constexpr std::array<std::string_view, 3> kDirections = {"forward", "forward again",
                                                                "backward"};

/// When an operation runs. in_turn: after the operation before it. Transfers that overlap launches:
/// before_layer ends before its layer begins, after_layer starts after its layer's gradients.
enum class Order : unsigned char { in_turn, before_layer, after_layer };

/// What runs, and where in a step.
struct Run {
  std::string part{};
  std::string what{};   ///< the kernel and its shape: "gemm.library m=8192 n=4800 k=1600"
  std::string bound{};  ///< as StepPart::bound
  Section section = Section::layer;
  Direction direction = Direction::forward;
};

/// Equal kernels or transfers, and their summed time; for transfers that overlap, the exposed time.
/// Operations stand in the order of the forward pass.
struct StepOperation : Run, Duration {
  double count = 0;              ///< runs of the kernel in the step
  double launches = 0;           ///< of those runs, all together
  std::int64_t first_layer = 0;  ///< in Section::layer: the first layer that has it
  std::int64_t last_layer = 0;   ///< one past the last such layer
  Use use{};
  double alone_s = 0;  ///< summed time if each had the GPU and the link for itself
  Order order = Order::in_turn;
  bool last_pass = false;  ///< runs in the last pass only
};

/// Time of one GPU's transfers in a step.
struct StepTransfers {
  double alone_s = 0;    ///< all transfers, one after the other
  double hidden_s = 0;   ///< overlapped with launches
  double exposed_s = 0;  ///< while no launch runs
  double slowed_s = 0;   ///< time that launches lose by sharing SMs and DRAM with transfers
};

struct Step : Duration {
  double tokens_per_s = 0;  ///< of all GPUs together
  double mfu = 0;  ///< the model's FLOPs ÷ those of the datasheet's peak, without recomputation
  double hfu = 0;  ///< the same with recomputation
  double limit_s = 0;  ///< the limits of its kernels and collectives, added up
  std::vector<StepPart> parts;
  std::vector<StepOperation> operations;
  StepTransfers transfers;
  std::vector<std::string> notes;

  /// Adds an operation; each of its launches or transfers takes `each`.
  void add_operation(StepOperation one, const Duration& each) {
    one.add(one.count, each);
    one.alone_s = one.expected_s;
    operations.push_back(std::move(one));
  }
};

/// The time that software adds to an eager FSDP training step in 16 bits, as fit_steps prints it.
struct SoftwareConstants {
  double attention_share = constants::kAttentionShare;  ///< ÷ the time of attention kernels
  double layer_s = constants::kLayerSeconds;            ///< seconds for a layer and pass
};

/// A kernel's parameter by name, with a number or the name of a choice. An empty name is ignored.
struct Given {
  std::string_view name{};
  std::int64_t number = 0;
  std::string_view word{};

  Given() = default;
  Given(std::string_view parameter, std::int64_t value) : name(parameter), number(value) {}
  /// The nearest integer, at least 1.
  Given(std::string_view parameter, double value)
      : name(parameter), number(std::max<std::int64_t>(1, std::llround(value))) {}
  Given(std::string_view parameter, std::string_view choice) : name(parameter), word(choice) {}
};

/// Forecasts of kernels on one GPU; each is computed once for each SM clock and kept.
class KernelForecasts {
 public:
  explicit KernelForecasts(const Gpu& gpu) : gpu_(gpu) {}
  const Gpu& gpu() const { return gpu_; }
  /// Forecasts from here on are for a clock slowed by this: Assumptions::clock_slowdown.
  void slow_clock(double slowdown) { slowdown_ = slowdown; }

  struct One {
    std::string what;        ///< the kernel and its parameters
    std::string_view bound;  ///< as StepPart::bound
    Duration time;
    double limit_s = 0;
    std::int64_t launches = 0;
    Use use{};
  };
  /// With CacheState::steady: kernels run back to back. InputError where there is no forecast.
  const One& of(std::string_view kernel, DType dtype, std::initializer_list<Given> given);
  /// Number of distinct forecasts so far.
  std::size_t count() const { return known_.size(); }

 private:
  const Gpu& gpu_;
  double slowdown_ = 0;
  std::map<std::string, One, std::less<>> known_;
  std::string key_;  ///< key of the current lookup; a member, so that its memory is reused
};

/// Steps that go on until the clock falls no further.
inline constexpr double kForLong = std::numeric_limits<double>::infinity();

/// Forecasts one step: train, with grad_accum passes and the optimizer; prefill; or decode of one
/// token for each sequence. Equal layers are forecast once. Experts are chosen as Task::routing
/// says; their gradients take twice the time of their forward pass. Steps follow one another for
/// `worked_s` without a pause: the mean power of a step sets the clock of all of its kernels.
/// Throws InputError as check() does, and where a kernel or collective has no forecast.
Step predict_step(const Architecture& model, const Task& task, const Gpu& gpu);
/// The same on the GPU of `forecasts`, which several steps may share.
Step predict_step(const Architecture& model, const Task& task, KernelForecasts& forecasts,
                  const SoftwareConstants& software = {}, double worked_s = kForLong);

/// One run of an operation: in one layer and pass, with its time.
struct TimelineEvent : Run {
  std::int64_t layer = 0;  ///< index from 0, in Section::layer
  double start_s = 0;
  double duration_s = 0;
  bool transfer = false;
  bool beside = false;  ///< overlaps launches (Order other than in_turn)
};

/// The last pass and Section::once on one GPU: the events in turn, then the transfers beside them.
std::vector<TimelineEvent> timeline(const Step& step, const Architecture& model, const Task& task);

}  // namespace roofcast::transformer
