#include "cli/output/model_plot.hpp"

#include <fmt/format.h>

#include <array>
#include <functional>
#include <set>
#include <string>

#include "cli/input/options.hpp"
#include "cli/output/chart_output.hpp"
#include "cli/output/files.hpp"
#include "model/types/quantity_text.hpp"
#include "reports/chart.hpp"
#include "reports/model_charts.hpp"

namespace roofcast::cli {
namespace {

using reports::ModelAxes;
using reports::ModelPoint;
using transformer::Phase;
using transformer::Task;

constexpr std::array<std::string_view, 4> kPlots = {"timeline", "memory", "rate", "latency"};

std::string fixed_of(const StepAnswer& answer) {
  const Task& task = answer.task;
  std::string text = answer.gpu;
  if (task.gpus() > 1) text = fmt::format("{} × {}", task.gpus(), text);
  const std::int64_t tokens = task.phase == Phase::decode ? task.context : task.seq;
  return fmt::format("{}, {} tokens", text, tokens);
}

ModelPoint point_of(const StepAnswer& answer) {
  const transformer::Step& step = *answer.step;
  const double tokens = step.tokens_per_s * step.expected_s;
  return {fixed_of(answer),    static_cast<double>(answer.task.batch),
          step.tokens_per_s,   tokens / step.high_s,
          tokens / step.low_s, step.expected_s,
          answer.memory,       answer.capacity_bytes};
}

struct Charts {
  ModelAxes axes;
  std::vector<ModelPoint> points;
  std::function<std::string(double)> timeline;  ///< for a frame of that width; may be empty

  std::string chart(std::string_view name, double width) const {
    if (name == "memory") return model_memory_chart(axes, points, width);
    if (name == "rate") return model_rate_chart(axes, points, width);
    if (name == "latency") return model_latency_chart(axes, points, width);
    if (timeline) return timeline(width);
    throw UsageError("--plot timeline shows one step: give one batch and one GPU");
  }
};

void write_charts(const Charts& charts, const std::string& lead, const std::string& table,
                  const std::optional<std::string>& plot, const std::string& path) {
  if (plot) one_of("--plot", *plot, kPlots);
  if (!path.ends_with(".html") || plot) {
    const bool several = charts.points.size() > 1 || !charts.timeline;
    const std::string name = plot.value_or(several ? "rate" : "timeline");
    return write_chart(charts.axes.title, charts.chart(name, reports::kModelWidth), path,
                       [&] { return charts.chart(name, reports::kNarrowFrame); });
  }
  std::vector<reports::TitledChart> drawn;
  const auto add = [&](const char* title, const char* name) {
    drawn.push_back({title, [&charts, name](double width) { return charts.chart(name, width); }});
  };
  if (charts.timeline) add("The step, layer by layer", "timeline");
  add("Memory", "memory");
  if (charts.points.size() > 1) {
    add("Rate", "rate");
    add("Rate against latency", "latency");
  }
  write_output(path, reports::model_page(charts.axes.title, lead, drawn, table));
}

std::string lead_of(const StepAnswer& answer) {
  const transformer::Step& step = *answer.step;
  return fmt::format(
      "{} [{}, {}] a step on {}; {}; MFU {}; {} of memory{}", si_text(step.expected_s, "s"),
      si_text(step.low_s, "s"), si_text(step.high_s, "s"), fixed_of(answer),
      si_text(step.tokens_per_s, "token/s"), percent(step.mfu), si_text(answer.memory.total(), "B"),
      answer.fits ? "" : ", which the GPU does not have: " + answer.would_fit);
}

}  // namespace

std::string model_plot_meaning() {
  return fmt::format("the chart: {} (default: on a page all of them)", fmt::join(kPlots, ", "));
}

void write_step_charts(const std::vector<StepAnswer>& answers,
                       const std::optional<std::string>& plot, const std::string& path) {
  Charts charts;
  const StepAnswer* shown = nullptr;
  std::set<std::string> refusals;
  for (const StepAnswer& answer : answers) {
    if (!answer.step) {
      refusals.insert(fmt::format("no point for {}: {}", answer.gpu, answer.refusal));
      continue;
    }
    charts.points.push_back(point_of(answer));
    if (shown == nullptr) shown = &answer;
  }
  for (const std::string& refusal : refusals) warn(refusal);
  if (shown == nullptr) throw InputError("no step has a forecast: there is nothing to draw");
  const std::string_view phase = transformer::kPhases[static_cast<std::size_t>(shown->task.phase)];
  charts.axes = {fmt::format("{}, {}", shown->model, phase), "Batch", "Time of a step"};
  if (charts.points.size() == 1 || (path.ends_with(".html") && !plot)) {
    const std::string title = fmt::format("{}, {} of batch {} on {}", shown->model, phase,
                                          shown->task.batch, fixed_of(*shown));
    const auto events = timeline(*shown->step, shown->task);
    charts.timeline = [title, events](double width) {
      return reports::step_timeline_chart(title, events, width);
    };
  }
  write_charts(charts, lead_of(*shown), reports::operations_table(*shown->step), plot, path);
}

void write_serving_charts(const std::vector<ServingAnswer>& answers,
                          const std::optional<std::string>& plot, const std::string& path) {
  Charts charts;
  for (const auto& [model, gpu, service, serving, capacity_bytes] : answers) {
    const double scale = serving.tokens_per_s * serving.between_tokens.expected_s;
    charts.points.push_back({service.tp > 1 ? fmt::format("{} × {}", service.tp, gpu) : gpu,
                             static_cast<double>(service.concurrency), serving.tokens_per_s,
                             scale / serving.between_tokens.high_s,
                             scale / serving.between_tokens.low_s,
                             serving.between_tokens.expected_s, serving.memory, capacity_bytes});
  }
  const ServingAnswer& first = answers.front();
  charts.axes = {fmt::format("{}, service of {} tokens in, {} out", first.model,
                             first.service.input, first.service.output),
                 "Concurrent requests", "Between tokens of a request"};
  write_charts(charts, "Continuous batching at a fixed number of requests", "", plot, path);
}

}  // namespace roofcast::cli
