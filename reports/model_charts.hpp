#pragma once
// Charts of whole models: a step over time, its memory, and its rate over batch and latency.
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "model/transformer/step.hpp"

namespace roofcast::reports {

/// A step or a service of a model, as one point of the charts.
struct ModelPoint {
  std::string line;     ///< what it shares with other points: the GPU and what is fixed
  double requests = 0;  ///< sequences at a time: batch or concurrency
  double tokens_per_s = 0;
  double low_tokens_per_s = 0;  ///< of the interval of time
  double high_tokens_per_s = 0;
  double latency_s = 0;  ///< of the step, or between two tokens of a request
  transformer::Memory memory;
  std::optional<double> capacity_bytes;  ///< of the GPU
};

/// What the points' axes are called.
struct ModelAxes {
  std::string title;     ///< "gpt2-xl, training of 1024 tokens"
  std::string requests;  ///< "Batch" or "Concurrent requests"
  std::string latency;   ///< "Time of a step" or "Between tokens of a request"
};

/// Of the frames of these charts, in pixels.
inline constexpr double kModelWidth = 760;

/// A bar for each part of an operation, a row for each layer: one pass, then what comes once a
/// step. Vega-Lite JSON text; InputError without events.
std::string step_timeline_chart(const std::string& title,
                                const std::vector<transformer::TimelineEvent>& events,
                                double width = kModelWidth);

/// Stacked bars of a GPU's memory, a bar a point, with a mark at what the GPU has. Vega-Lite JSON
/// text.
std::string model_memory_chart(const ModelAxes& axes, const std::vector<ModelPoint>& points,
                               double width = kModelWidth);

/// Tokens a second over sequences at a time, with the interval. Vega-Lite JSON text.
std::string model_rate_chart(const ModelAxes& axes, const std::vector<ModelPoint>& points,
                             double width = kModelWidth);

/// Tokens a second over latency; each point says how many sequences. Vega-Lite JSON text.
std::string model_latency_chart(const ModelAxes& axes, const std::vector<ModelPoint>& points,
                                double width = kModelWidth);

/// The operations of a step for a page: the kernel, where it stands, launches, time, share and
/// bound.
std::string operations_table(const transformer::Step& step);

/// A page that opens offline: the charts, each under its title and for a phone's width too, then
/// the table, which is HTML. InputError as chart_page.
struct TitledChart {
  std::string title;
  std::function<std::string(double)> draw;  ///< its Vega-Lite JSON for a frame of that width
};
std::string model_page(const std::string& title, const std::string& lead,
                       const std::vector<TitledChart>& charts, const std::string& table);

}  // namespace roofcast::reports
