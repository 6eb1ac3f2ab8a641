#pragma once
// Marks in a sweep's chart where launches begin to take more waves.
#include <string>

#include "reports/sweep_chart.hpp"
#include "reports/theme.hpp"

namespace roofcast::reports {

struct WaveMarks {
  Json rows;            ///< {"x":…,"waves":"2"} for each mark
  std::string meaning;  ///< for the subtitle
};
WaveMarks wave_marks(const SweepPlot& plot);

/// The layers that draw the data set "waves" on the x channel.
Json wave_layers(const Json& x);

}  // namespace roofcast::reports
