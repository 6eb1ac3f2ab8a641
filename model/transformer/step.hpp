#pragma once
// The time of a step: forecasts of its kernels, its collectives, and what software adds.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
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

/// A time with its interval.
struct Duration {
  double expected_s = 0;
  double low_s = 0;
  double high_s = 0;

  /// Adds what takes a time with an interval, so many times.
  template <class Time>
  void add(double times, const Time& one) {
    expected_s += times * one.expected_s;
    low_s += times * one.low_s;
    high_s += times * one.high_s;
  }
  void scale(double share) {
    expected_s *= share;
    low_s *= share;
    high_s *= share;
  }
};

/// The operations of one name, all layers and passes together. The parts add up to the step.
struct StepPart : Duration {
  std::string name;
  std::string bound{};  ///< of its longest operation: a Resource's name, "link", "host", "pipeline"
};

/// Where an operation stands in a step: before the layers, in each of them, after them, once.
enum class Section : unsigned char { begin, layer, end, once };
enum class Direction : unsigned char { forward, again, backward };
inline constexpr std::array<std::string_view, 3> kDirections = {"forward", "forward again",
                                                                "backward"};

/// When an operation runs: in turn, after the one before it; or beside the others, ended before its
/// layer begins, or begun once its layer's gradients are computed.
enum class Order : unsigned char { in_turn, before_layer, after_layer };

/// Equal kernels or transfers, and the time of all of them; of transfers beside, what launches do
/// not hide. Operations stand in the order of the forward pass.
struct StepOperation : Duration {
  std::string part{};
  std::string what{};  ///< the kernel and its shape: "gemm.library m=8192 n=4800 k=1600"
  Section section = Section::layer;
  Direction direction = Direction::forward;
  double count = 0;  ///< launches of the kernel in the step
  std::string bound{};
  std::int64_t first_layer = 0;  ///< of Section::layer: the first that has it
  std::int64_t last_layer = 0;   ///< the first after those
  Use use{};
  double alone_s = 0;  ///< of all of them, if each had the GPU and the link for itself
  std::optional<Transfer> transfer{};
  Order order = Order::in_turn;
  bool last_pass = false;  ///< in the last pass alone
};

/// Time of one GPU's transfers in a step.
struct StepTransfers {
  double alone_s = 0;    ///< of all transfers, one after the other
  double hidden_s = 0;   ///< while launches run
  double exposed_s = 0;  ///< while no launch runs
  double slowed_s = 0;   ///< further time of launches that share SMs and DRAM with transfers
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

  /// Adds an operation, whose launches or transfers take `each`.
  template <class Time>
  void add_operation(StepOperation one, const Time& each) {
    one.add(one.count, each);
    one.alone_s = one.expected_s;
    operations.push_back(std::move(one));
  }
};

/// What software adds to an eager FSDP training step in 16 bits, as fit_steps prints it.
struct SoftwareConstants {
  double attention_share = constants::kAttentionShare;
  double layer_s = constants::kLayerSeconds;
};

/// A parameter by name, with a number or a choice's name. Without a name: nothing given.
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

/// Forecasts of one GPU, each asked once.
class KernelForecasts {
 public:
  explicit KernelForecasts(const Gpu& gpu) : gpu_(gpu) {}
  const Gpu& gpu() const { return gpu_; }

  struct One {
    std::string what;  ///< the kernel and what is given
    Forecast time;
    double limit_s = 0;
    Use use{};
  };
  /// With a steady cache: kernels follow each other. Throws InputError where there is no forecast.
  const One& of(std::string_view kernel, DType dtype, std::initializer_list<Given> given);
  /// Distinct questions so far.
  std::size_t count() const { return known_.size(); }

 private:
  const Gpu& gpu_;
  std::map<std::string, One, std::less<>> known_;
  std::string key_;  ///< of the question at hand; keeps its memory
};

/// Forecasts one step: train, with grad_accum passes and the optimizer; prefill; or decode of one
/// token for each sequence. Equal layers are forecast once. Experts are chosen as Task says; their
/// gradients take twice the time of the pass forward. Throws InputError as check() does, and where
/// a kernel or collective has no forecast.
Step predict_step(const Architecture& model, const Task& task, const Gpu& gpu,
                  const SoftwareConstants& software = {});
/// The same on the GPU of the forecasts, which steps share.
Step predict_step(const Architecture& model, const Task& task, KernelForecasts& forecasts,
                  const SoftwareConstants& software = {});

/// An operation of one layer and pass over time.
struct TimelineEvent {
  std::string part;
  std::string what;
  std::string bound;
  Section section = Section::layer;
  Direction direction = Direction::forward;
  std::int64_t layer = 0;  ///< of Section::layer, from 0
  double start_s = 0;
  double duration_s = 0;
  bool transfer = false;
  bool beside = false;  ///< not in turn: launches may run meanwhile
};

/// The last pass of the step on one GPU, with what comes once a step: events in turn in their
/// order, then those beside.
std::vector<TimelineEvent> timeline(const Step& step, const Architecture& model, const Task& task);

}  // namespace roofcast::transformer
