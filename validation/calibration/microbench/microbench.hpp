#pragma once
// The table of microbenchmarks; each measures one property of the present device.
#include <span>
#include <string_view>
#include <vector>

#include "validation/calibration/curve.hpp"

namespace roofcast::microbench {

class Lab;
using Curves = std::vector<validation::Curve>;

/// `run` throws std::runtime_error if the device's result is wrong.
struct Microbench {
  std::string_view name;
  std::string_view what;
  Curves (*run)(Lab&);
};

std::span<const Microbench> microbenches();

Curves clock_under_load(Lab& lab);
Curves latency(Lab& lab);
Curves bandwidth(Lab& lab);
Curves bytes_in_flight(Lab& lab);
Curves scattered(Lab& lab);
Curves on_chip(Lab& lab);
Curves pipes(Lab& lab);
Curves issue(Lab& lab);
Curves barrier(Lab& lab);
Curves block_start(Lab& lab);
Curves launch(Lab& lab);
Curves first_and_last(Lab& lab);

}  // namespace roofcast::microbench
