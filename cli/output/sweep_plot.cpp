#include "cli/output/sweep_plot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "cli/output/answer.hpp"
#include "cli/output/chart_output.hpp"
#include "cli/output/sweep_measurements.hpp"
#include "cli/output/terminal.hpp"
#include "model/types/parameter_text.hpp"
#include "reports/chart.hpp"
#include "reports/sweep_chart.hpp"
#include "validation/runs/suite.hpp"

namespace roofcast::cli {
namespace {

using reports::Quantity;

std::vector<std::string_view> quantity_names() {
  std::vector<std::string_view> names;
  for (const Quantity& quantity : reports::quantities()) names.push_back(quantity.name);
  return names;
}

const Quantity& read_quantity(const Options& options) {
  const auto names = quantity_names();
  const std::string_view name = one_of("--plot", options.get("plot", names.front()), names);
  const auto all = reports::quantities();
  return *std::find_if(all.begin(), all.end(), [&](const Quantity& q) { return q.name == name; });
}

/// Whether --series asks for a line per alignment of x, in a sweep of one kernel, type and device.
bool wants_alignment(const Options& options) {
  constexpr std::array<std::string_view, 1> kSeries = {"alignment"};
  return options.has("series") && !one_of("--series", options.get("series", ""), kSeries).empty();
}

// Multiples of this and of larger powers share a series, since colours tell no more series apart.
constexpr std::int64_t kMostAligned = 128;

/// "32": the largest power of two that divides the value.
std::string alignment_label(std::int64_t value) {
  const std::int64_t power = value & -value;
  if (power >= kMostAligned) return fmt::format("{} or more", kMostAligned);
  return power == 1 ? "1 (odd)" : fmt::format("{}", power);
}

/// The parameters left open, with the model's choice: "tile_m=128 tile_n=256".
std::string chosen_settings(const KernelRef& kernel, const Problem& asked, const Problem& answer) {
  std::string text;
  const auto parameters = kernel.parameters();
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    if (answer[i] == asked[i]) continue;
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", parameters[i].name, answer[i]);
  }
  return text;
}

bool varies(const Axis& axis) {
  return axis.tied_to.empty() && axis.values.size() > 1;
}

std::string choose_x(const PlottedSweep& plotted, const Options& options) {
  if (const auto chosen = options.find("x")) {
    for (const KernelSweep& sweep : plotted.sweeps) {
      const auto position = position_named(sweep.kernel.parameters(), *chosen);
      if (position && !is_named(sweep.kernel.parameters()[*position])) return *chosen;
    }
    throw UsageError("--x {}: no kernel here has a parameter of that name that is a number",
                     *chosen);
  }
  for (const KernelSweep& sweep : plotted.sweeps) {
    for (const Axis& axis : sweep.axes) {
      if (varies(axis) && !axis.named) return axis.name;
    }
  }
  throw UsageError("a chart needs a parameter with several values, for example --n 1024:65536:*2");
}

/// Collects the points of the chart's lines.
class Collector {
 public:
  Collector(const PlottedSweep& plotted, const Options& options)
      : plotted_(plotted),
        quantity_(read_quantity(options)),
        x_(choose_x(plotted, options)),
        by_alignment_(wants_alignment(options)),
        marks_waves_(by_alignment_ || options.has("waves")),
        measurements_(options) {}

  void collect() {
    reports::check_points(point_count());
    for (const Gpu& gpu : plotted_.gpus) {
      for (const KernelSweep& sweep : plotted_.sweeps) {
        walk(sweep, plotted_.repeats, [&](const Problem& problem) { add(sweep, problem, gpu); });
      }
    }
    measurements_.warn_if_none();
    draw_constants();
  }

  reports::SweepPlot plot() {
    if (lines_.empty()) throw InputError(fmt::format("no point has a forecast: {}", refusal_));
    if (lines_.size() > reports::kMostLines) {
      throw UsageError("a chart has at most {} lines, this one {}: sweep fewer values",
                       reports::kMostLines, lines_.size());
    }
    if (marks_waves_ && !by_alignment_ && lines_.size() > 1) {
      throw UsageError("--waves marks those of one line, not of {}: sweep one of them",
                       lines_.size());
    }
    reports::SweepPlot plot;
    plot.quantity = &quantity_;
    plot.title = fmt::format("{} over {}", quantity_.title, x_);
    plot.subtitle = subtitle();
    plot.x_title = x_title();
    for (auto& line : lines_) plot.lines.push_back(std::move(line));
    if (by_alignment_) arrange_by_alignment(plot);
    return plot;
  }

  std::size_t refused() const {
    if (refused_ > 0) {
      warn(refused_ == 1
               ? fmt::format("1 point has no forecast: {}", refusal_)
               : fmt::format("{} points have no forecast, the first: {}", refused_, refusal_));
    }
    return refused_;
  }

 private:
  void arrange_by_alignment(reports::SweepPlot& plot) const {
    plot.title = fmt::format("{} of {} over {}", quantity_.title, subject_, x_);
    plot.legend = fmt::format("largest power of two that divides {}", x_);
    plot.scattered = true;
    // Each power of two has the same colour in every chart.
    for (std::int64_t power = 1; power <= kMostAligned; power *= 2) {
      plot.colours.push_back(alignment_label(power));
    }
    std::sort(plot.lines.begin(), plot.lines.end(), [](const auto& a, const auto& b) {
      return std::stoll(a.label) < std::stoll(b.label);
    });
  }

  std::size_t point_count() const {
    std::size_t count = 0;
    for (const KernelSweep& sweep : plotted_.sweeps) {
      count += Points(sweep.axes, plotted_.repeats).count() * sweep.dtypes.size();
    }
    return count * plotted_.gpus.size();
  }

  void add(const KernelSweep& sweep, Problem problem, const Gpu& gpu) {
    try {
      check(sweep.kernel, problem, sweep.given);
      Assumptions assumptions = plotted_.assumptions;
      const validation::Case* item =
          measurements_.find(sweep.kernel, problem, gpu, assumptions.cache);
      Prediction prediction = predict(sweep.kernel, problem, gpu, assumptions);
      if (item == nullptr && measurements_.chooses_cache()) {
        assumptions.cache = CacheState::steady;
        Prediction steady = predict(sweep.kernel, problem, gpu, assumptions);
        if (steady.time && steady.time->expected_s < validation::kSteadyBelow_s) {
          prediction = std::move(steady);
        }
      }
      place(sweep, problem, gpu, point(sweep.kernel, problem, gpu, prediction, item));
    } catch (const InputError& error) {
      if (refused_++ == 0) refusal_ = error.what();
    }
  }

  reports::SweepPoint point(const KernelRef& kernel, const Problem& problem, const Gpu& gpu,
                            const Prediction& prediction, const validation::Case* item) const {
    reports::SweepPoint result;
    result.value = reports::predicted(quantity_, prediction, gpu);
    result.problem = problem_text(kernel, problem);
    if (quantity_.of_time && prediction.time) {
      const double a = quantity_.value(prediction, gpu, prediction.time->low_s);
      const double b = quantity_.value(prediction, gpu, prediction.time->high_s);
      result.low = std::min(a, b);
      result.high = std::max(a, b);
    }
    if (marks_waves_ && prediction.waves) {
      result.waves = prediction.waves->count;
      result.settings = chosen_settings(kernel, problem, prediction.problem);
    }
    if (item != nullptr) result.measured = reports::measured(quantity_, *item, prediction, gpu);
    return result;
  }

  void place(const KernelSweep& sweep, const Problem& problem, const Gpu& gpu,
             reports::SweepPoint point) {
    const auto position = position_named(sweep.kernel.parameters(), x_);
    std::string label = label_of(sweep, problem, gpu);
    if (by_alignment_ && position) {
      if (subject_.empty()) subject_ = label;
      if (subject_ != label) {
        throw UsageError(
            "--series alignment tells the points of one kernel, type and device apart, not {} from "
            "{}: sweep one of them",
            subject_, label);
      }
      label = alignment_label(problem[*position]);
    }
    auto line = std::find_if(lines_.begin(), lines_.end(),
                             [&](const reports::SweepLine& l) { return l.label == label; });
    if (line == lines_.end()) line = lines_.insert(lines_.end(), {label, {}});
    if (position) {
      point.x = static_cast<double>(problem[*position]);
      low_ = std::min(low_, point.x);
      high_ = std::max(high_, point.x);
    } else {
      point.x = std::nan("");
    }
    line->points.push_back(std::move(point));
  }

  /// Draws a kernel without the parameter x as a horizontal line across the chart.
  void draw_constants() {
    for (reports::SweepLine& line : lines_) {
      std::vector<reports::SweepPoint> across;
      for (const reports::SweepPoint& point : line.points) {
        if (!std::isnan(point.x)) continue;
        for (const double x : {low_, high_}) {
          across.push_back(point);
          across.back().x = x;
        }
      }
      if (!across.empty()) line.points = std::move(across);
    }
  }

  /// "access.strided width=4 bf16 on h200-sxm": after the kernel only what varies.
  std::string label_of(const KernelSweep& sweep, const Problem& problem, const Gpu& gpu) const {
    std::string label(sweep.kernel.name());
    const std::string root = root_of_x(sweep);
    for (std::size_t i = 0; i < sweep.axes.size(); ++i) {
      const Axis& axis = sweep.axes[i];
      if (!varies(axis) || axis.name == root) continue;
      const std::size_t position = sweep.positions[i];
      label += fmt::format(" {}={}", axis.name,
                           value_text(sweep.kernel.parameters()[position], problem, position));
    }
    const bool types_differ =
        std::any_of(plotted_.sweeps.begin(), plotted_.sweeps.end(), [&](const KernelSweep& other) {
          return other.dtypes.size() > 1 || other.dtypes.front() != sweep.dtypes.front();
        });
    if (types_differ) label += fmt::format(" {}", name(problem.dtype));
    if (plotted_.gpus.size() > 1) label += fmt::format(" on {}", gpu.name);
    return label;
  }

  /// The axis at the end of x's ties, or x itself.
  std::string root_of_x(const KernelSweep& sweep) const {
    const auto roots = resolve_ties(sweep.axes);
    for (std::size_t i = 0; i < sweep.axes.size(); ++i) {
      if (sweep.axes[i].name == x_) return sweep.axes[roots[i]].name;
    }
    return x_;
  }

  /// The device, and the values that all points have in common.
  std::string subtitle() const {
    std::string text = plotted_.gpus.size() == 1
                           ? (plotted_.gpus.front().title.empty() ? plotted_.gpus.front().name
                                                                  : plotted_.gpus.front().title)
                           : fmt::format("{} devices", plotted_.gpus.size());
    std::vector<std::string> common;
    for (const KernelSweep& sweep : plotted_.sweeps) {
      for (std::size_t i = 0; i < sweep.axes.size(); ++i) {
        const Axis& axis = sweep.axes[i];
        if (axis.name == x_ || varies(axis)) continue;
        std::string part;
        if (axis.tied_to.empty()) {
          Problem problem;
          const std::size_t position = sweep.positions[i];
          problem[position] = axis.values.front();
          part = fmt::format("{}={}", axis.name,
                             value_text(sweep.kernel.parameters()[position], problem, position));
        } else {
          part = axis.divided == 0 ? fmt::format("{}={}", axis.name, axis.tied_to)
                                   : fmt::format("{}={}/{}", axis.name, axis.divided, axis.tied_to);
        }
        if (std::find(common.begin(), common.end(), part) == common.end()) {
          common.push_back(std::move(part));
        }
      }
      if (!sweep.constants.text.empty() && common.empty()) {
        common.emplace_back(sweep.constants.text.view());
      }
    }
    const bool one_type =
        std::all_of(plotted_.sweeps.begin(), plotted_.sweeps.end(), [&](const KernelSweep& sweep) {
          return sweep.dtypes == plotted_.sweeps.front().dtypes && sweep.dtypes.size() == 1;
        });
    if (one_type) common.emplace_back(name(plotted_.sweeps.front().dtypes.front()));
    if (!common.empty()) text += fmt::format(" · {}", fmt::join(common, " "));
    return text;
  }

  std::string x_title() const {
    for (const KernelSweep& sweep : plotted_.sweeps) {
      if (const auto position = position_named(sweep.kernel.parameters(), x_)) {
        return fmt::format("{}: {}", x_, sweep.kernel.parameters()[*position].meaning);
      }
    }
    return x_;
  }

  const PlottedSweep& plotted_;
  const Quantity& quantity_;
  std::string x_;
  bool by_alignment_;
  bool marks_waves_;
  std::string subject_;  ///< with by_alignment_: kernel, type and device of all lines
  Measurements measurements_;
  std::vector<reports::SweepLine> lines_;
  double low_ = HUGE_VAL;
  double high_ = -HUGE_VAL;
  std::size_t refused_ = 0;
  std::string refusal_;
};

}  // namespace

std::string plot_option_meaning() {
  return fmt::format("draw a chart of {}", fmt::join(quantity_names(), ", "));
}

bool wants_plot(const Options& options) {
  const bool plot = options.has("plot") || is_picture(options.get("output", ""));
  if (plot && options.has("format")) {
    throw UsageError("--format is for tables: a chart's file name says its format");
  }
  if (plot) return true;
  for (const char* option : {"x", "run", "series", "waves"}) {
    if (options.has(option)) {
      throw UsageError("--{} is for charts: say --plot and which quantity", option);
    }
  }
  return false;
}

std::size_t plot_sweep(const PlottedSweep& plotted, const Options& options) {
  Collector collector(plotted, options);
  collector.collect();
  const reports::SweepPlot plot = collector.plot();
  write_chart(plot.title, reports::sweep_chart(plot), options.find("output"),
              [&plot] { return reports::sweep_chart(plot, reports::kNarrowFrame); });
  return collector.refused();
}

}  // namespace roofcast::cli
