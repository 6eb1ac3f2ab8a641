#pragma once
// Marks in the chart of a sweep: from where on a launch takes more waves.
#include <string>

#include "reports/sweep_chart.hpp"
#include "reports/theme.hpp"

namespace roofcast::reports {

struct WaveMarks {
  Json rows;            ///< {"x":…,"waves":"2"}; empty where no point has waves
  std::string meaning;  ///< for the subtitle
};
WaveMarks wave_marks(const SweepPlot& plot);

/// The layers that draw the dataset "waves" over this channel.
Json wave_layers(const Json& x);

}  // namespace roofcast::reports
