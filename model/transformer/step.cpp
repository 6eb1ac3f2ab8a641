#include "model/transformer/step.hpp"

#include "model/constants/steps.hpp"
#include "model/laws/clock.hpp"
#include "model/laws/peaks.hpp"
#include "model/predict.hpp"
#include "model/transformer/step_composer.hpp"
#include "model/types/parameter_text.hpp"
#include "model/types/quantity_text.hpp"

namespace roofcast::transformer {
namespace {

/// An operation other than a kernel, of all layers; its part has the same name.
StepOperation named(std::string_view name, std::string_view bound, Section section,
                    const Step& step, const Task& task) {
  StepOperation one;
  one.part = one.what = name;
  one.bound = bound;
  place(one, section, task, 0, step.layers);
  return one;
}

void add_software(Step& step, const Task& task) {
  // The fit covers FSDP training in 16 bits: FSDP's hooks in each layer, flash attention.
  const bool covered = task.framework == Framework::eager && task.phase == Phase::train &&
                       task.fsdp > 1 && task.dtype != DType::fp32;
  if (!covered) return;
  StepOperation each = named("software", "host", Section::layer, step, task);
  // Forward and backward; with full checkpointing also the recomputed forward.
  const double passes = task.checkpointing == Checkpointing::full ? 3 : 2;
  double time_s = constants::kLayerSeconds * each.count * passes;
  for (const StepOperation& one : step.operations) {
    if (one.part == kAttention) time_s += constants::kAttentionShare * one.expected_s;
  }
  const double one_s = time_s / 2 / each.count;
  for (const Direction direction : {Direction::forward, Direction::backward}) {
    each.direction = direction;
    step.add_operation(each, Duration{one_s, one_s / 2, one_s * 1.5});
  }
}

// The GPU's waits for the host in each segment (s). The host makes a call in `launch_s`, twice that
// if it also records the operation for the backward pass, and starts a step when the GPU has ended
// the one before. A call's launches run once it is made and those before have ended:
//   T = max over the calls of (submission of all up to it + time of it and all after it).
// Within a segment, all passes together, both grow evenly: the maximum is at an end of one.
auto waits_s(const Step& step, const Task& task, double launch_s) {
  std::array<double, kStepSegments.size()> waits{};
  double submitted_s = 0, ended_s = 0, waited_s = 0;
  for (std::size_t i = 0; i < waits.size(); ++i) {
    const StepSegment& here = kStepSegments[i];
    const bool records =
        task.phase == Phase::train && here.is_forward() && here.section != Section::once;
    for (const StepOperation& one : step.operations) {
      if (!here.has(one) || one.order != Order::in_turn) continue;
      ended_s += one.expected_s;
      submitted_s += one.calls * launch_s * (records ? 2 : 1);
    }
    const double until_s = std::max(waited_s, submitted_s - ended_s);
    waits[i] = until_s - std::exchange(waited_s, until_s);
  }
  return waits;
}

// Adds the waits to a step that PyTorch launches. The interval is from a host that takes 0.5 times
// as long to one that takes 1.5.
void add_host(Step& step, const Task& task) {
  if (!launched_by_pytorch(task)) return;
  const auto expected = waits_s(step, task, task.host_launch_s),
             low = waits_s(step, task, 0.5 * task.host_launch_s),
             high = waits_s(step, task, 1.5 * task.host_launch_s);
  bool waits = false;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    if (expected[i] <= 0) continue;
    waits = true;
    StepOperation wait = named("waits for the host", "host", kStepSegments[i].section, step, task);
    wait.direction = kStepSegments[i].direction;
    Duration each{expected[i], std::min(expected[i], low[i]), std::max(expected[i], high[i])};
    each.scale(1 / wait.count);
    step.add_operation(wait, each);
  }
  if (!waits) return;
  step.notes.push_back(message("the GPU waits for the host, which submits a launch in ",
                               si_text(task.host_launch_s, "s"),
                               ": larger batches and CUDA graphs wait less"));
}

/// Reduces the step of a whole model to its slowest pipeline stage: 1/pp of the layers and the
/// longer end of the model. Adds the transfers between stages, and the bubble: the stage idles
/// while the first micro-batch fills the other stages and the last one drains them, for one pass of
/// these stages (1F1B: Narayanan et al. 2021, arXiv 2104.04473, section 2.2).
void put_in_stages(Step& step, const Architecture& model, const Task& task, const Gpu& gpu) {
  if (task.pp < 2) return;
  const double stages = as_double(task.pp), passes = task.passes();
  const auto end_s = [&](Section end) {
    double sum_s = 0;
    for (const StepOperation& one : step.operations) sum_s += one.section == end ? one.alone_s : 0;
    return sum_s;
  };
  const bool last_is_longer = end_s(Section::end) > end_s(Section::begin);
  const Section shorter_end = last_is_longer ? Section::begin : Section::end;
  step.layers /= task.pp;
  Duration bubble;
  for (StepOperation& one : step.operations) {
    const bool in_layers = one.section == Section::layer;
    if (in_layers) {
      one.first_layer = 0;
      one.last_layer = step.layers;
      one.scale(1 / stages);
      one.alone_s /= stages;
      one.count /= stages;
      one.launches /= stages;
      one.calls /= stages;
    }
    const double others = in_layers ? stages - 1 : one.section == shorter_end ? 1 : 0;
    if (one.part != kWeightsBetweenGpus) bubble.add(others / passes, one);
  }
  std::erase_if(step.operations,
                [&](const StepOperation& one) { return one.section == shorter_end; });
  step.transfers.slowed_s /= stages;
  step.limit_s /= stages;  // mean of the stages: at most the longest stage's
  StepOperation between = named("between stages", "link", Section::once, step, task);
  between.count = 2 * (passes + stages - 1);  // activations forward, gradients back
  const double bytes = task.tokens() * as_double(model.hidden) * task.activation_bytes();
  between.use.transfer = true;
  const Transfer sent{Collective::send_recv, bytes, 2, as_double(task.tp * task.dp * task.fsdp)};
  step.add_operation(between, predict_collective(sent, gpu, task.network_bytes_per_s));
  bubble.energy_j = 0;
  step.add_operation(named("pipeline bubble", "pipeline", Section::once, step, task), bubble);
  step.notes.push_back(std::string("forecast for the ") + (last_is_longer ? "last" : "first") +
                       " stage, which takes longest");
}

// FLOPs per token that the backward pass recomputes: the forward pass (a third of all), or, with
// selective checkpointing and scores in memory, Q·Kᵀ.
double computed_again(const Architecture& model, const Task& task) {
  if (task.phase != Phase::train || task.checkpointing == Checkpointing::none) return 0;
  if (task.checkpointing == Checkpointing::full) {
    return training_flops_per_token(model, as_double(task.seq)) / 3;
  }
  if (task.dtype != DType::fp32) return 0;
  return 2 * as_double(model.layers * model.heads * model.head_dim * task.seq);
}

// Adds up the operations by name, and the parts to the step.
void add_parts(Step& step) {
  std::map<std::string_view, double> longest_s;
  for (const StepOperation& one : step.operations) {
    auto part = std::find_if(step.parts.begin(), step.parts.end(),
                             [&](const StepPart& known) { return known.name == one.part; });
    if (part == step.parts.end()) part = step.parts.insert(part, {{}, one.part});
    part->add(1, one);
    double& longest = longest_s[one.part];
    if (one.alone_s > longest) part->bound = one.bound;
    longest = std::max(longest, one.alone_s);
  }
  for (const StepPart& part : step.parts) step.add(1, part);
}

void add_transfers(Step& step, const Gpu& gpu) {
  StepTransfers& sent = step.transfers;
  for (const StepOperation& one : step.operations) {
    if (!one.use.transfer) continue;
    sent.alone_s += one.alone_s;
    sent.exposed_s += one.expected_s;
  }
  sent.hidden_s = std::max(0.0, sent.alone_s - sent.exposed_s);
  if (const auto note = link_note(gpu); sent.alone_s > 0 && !note.empty()) {
    step.notes.emplace_back(note);
  }
}

// Tokens per second, and the utilization of the datasheet's peak.
void add_rates(Step& step, const Architecture& model, const Task& task, const Gpu& gpu) {
  const double tokens = task.passes() * task.tokens() * as_double(task.dp * task.fsdp);
  step.tokens_per_s = tokens / step.expected_s;
  const double keys = as_double(task.phase == Phase::decode ? task.context : task.seq);
  const double flops =
      training_flops_per_token(model, keys) * (task.phase == Phase::train ? 1 : 1.0 / 3);
  const auto tensor_hz = gpu.clocks.tensor_boost_hz, vector_hz = gpu.clocks.vector_boost_hz;
  auto peak = device_rate(gpu.sm.tensor_flop_per_clk[task.dtype], gpu, tensor_hz);
  if (!peak) peak = device_rate(gpu.sm.vector_flop_per_clk[task.dtype], gpu, vector_hz);
  if (!peak) return;
  step.mfu = step.tokens_per_s * flops / (*peak * task.gpus());
  step.hfu = step.mfu * (1 + computed_again(model, task) / flops);
}

}  // namespace

const KernelForecasts::One& KernelForecasts::of(std::string_view kernel, DType dtype,
                                                std::initializer_list<Given> given) {
  key_.assign(kernel);
  for (const Given& one : given) {
    if (one.name.empty()) continue;
    key_.append(" ").append(one.name).append("=");
    one.word.empty() ? key_.append(std::to_string(one.number)) : key_.append(one.word);
  }
  key_.append(" ").append(roofcast::name(dtype));
  const std::size_t what = key_.size();
  if (slowdown_ > 0) key_.append(" ").append(std::to_string(slowdown_));
  if (const auto found = known_.find(key_); found != known_.end()) return found->second;
  const KernelRef ref = find_kernel(kernel);
  Problem problem{.dtype = dtype};
  unsigned marks = 0;
  for (const Given& one : given) {
    const auto position = position_named(ref.parameters(), one.name);
    if (!position) continue;
    marks |= 1U << *position;
    problem[*position] = one.number;
    const Parameter& parameter = ref.parameters()[*position];
    if (!one.word.empty()) set_named_value(parameter, problem, *position, one.word);
  }
  check(ref, problem, marks);
  const Prediction answer =
      predict(ref, problem, gpu_, {.cache = CacheState::steady, .clock_slowdown = slowdown_});
  require(answer.time.has_value(), "there is no forecast of ", kernel, " there");
  const Forecast& time = *answer.time;
  One one{key_.substr(0, what),
          roofcast::name(binding(time.terms)),
          {time.expected_s, time.low_s, time.high_s, time.energy_j},
          answer.limit.time_s,
          answer.launches,
          use_of(answer)};
  return known_.emplace(key_, std::move(one)).first->second;
}

Step predict_step(const Architecture& model, const Task& task, const Gpu& gpu) {
  KernelForecasts forecasts(gpu);
  return predict_step(model, task, forecasts);
}

Step predict_step(const Architecture& model, const Task& task, KernelForecasts& forecasts,
                  double worked_s) {
  check(model, task);
  const Gpu& gpu = forecasts.gpu();
  const auto at_slowdown = [&](double slowdown) {
    forecasts.slow_clock(slowdown);
    Step step;
    step.layers = model.layers;
    add_layers(step, model, task, forecasts);
    add_software(step, task);
    add_host(step, task);
    overlap(step, task);
    put_in_stages(step, model, task, gpu);
    add_parts(step);
    add_transfers(step, gpu);
    if (auto note = positions_note(model, task)) step.notes.push_back(std::move(*note));
    add_rates(step, model, task, gpu);
    return step;
  };
  Step step = at_slowdown(0);
  constexpr double kRounded = 0.01;  // steps of nearly the same power share their forecasts
  const double by_power = long_run_slowdown(step.energy_j / step.expected_s, worked_s, gpu);
  const double slowdown = kRounded * std::round(by_power / kRounded);
  if (slowdown <= 0) return step;
  step = at_slowdown(slowdown);
  step.notes.push_back(message("the power limit of ", si_text(*gpu.power_w, "W"),
                               " lowers the SM clock by ",
                               std::lround(100 * (1 - 1 / (1 + slowdown))), "%"));
  return step;
}

}  // namespace roofcast::transformer
