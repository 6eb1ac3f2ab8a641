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
  std::string line;     ///< name of its line: what the points of a line share, such as the GPU
  double requests = 0;  ///< sequences at a time: batch or concurrency
  double tokens_per_s = 0;
  double low_tokens_per_s = 0;  ///< at the upper end of the interval of time
  double high_tokens_per_s = 0;
  double latency_s = 0;  ///< time of the step, or between two tokens of a request
  transformer::Memory memory;
  std::optional<double> capacity_bytes;  ///< memory of the GPU
};

/// The texts of the charts' titles and axes.
struct ModelAxes {
  std::string title;     ///< "gpt2-xl, training of 1024 tokens"
  std::string requests;  ///< "Batch" or "Concurrent requests"
  std::string latency;   ///< "Time of a step" or "Between tokens of a request"
};

/// Throws InputError without a point.
void expect_points(const std::vector<ModelPoint>& points);

/// Width of these charts' frames (px).
inline constexpr double kModelWidth = 760;

/// One pass and the operations that run once a step, over time: a bar for each run of operations of
/// one part, a row for each layer, for what precedes and follows the layers, and for overlapping
/// transfers. Vega-Lite JSON text. Throws InputError without events.
std::string step_timeline_chart(const std::string& title,
                                const std::vector<transformer::TimelineEvent>& events,
                                double width = kModelWidth);

/// Stacked bars of a GPU's memory, one bar per point, with a mark at the GPU's capacity. Vega-Lite
/// JSON text.
std::string model_memory_chart(const ModelAxes& axes, const std::vector<ModelPoint>& points,
                               double width = kModelWidth);

/// Tokens a second over sequences at a time, with the interval. Vega-Lite JSON text.
std::string model_rate_chart(const ModelAxes& axes, const std::vector<ModelPoint>& points,
                             double width = kModelWidth);

/// Tokens a second over latency; each point is labelled with its sequences. Vega-Lite JSON text.
std::string model_latency_chart(const ModelAxes& axes, const std::vector<ModelPoint>& points,
                                double width = kModelWidth);

/// HTML table of a step's operations: part, place in the model, direction, launches, time, share of
/// the step and bound.
std::string operations_table(const transformer::Step& step);

/// A chart of a page, and its title.
struct TitledChart {
  std::string title;
  std::function<std::string(double)> draw;  ///< Vega-Lite JSON text for a frame of that width (px)
};
/// An HTML page that opens offline: the charts, also for a phone's width, then `table`, which is
/// HTML and may be empty. Throws InputError as chart_page does.
std::string model_page(const std::string& title, const std::string& lead,
                       const std::vector<TitledChart>& charts, const std::string& table);

}  // namespace roofcast::reports
