// fit_overlay RUN.json GPU [CONSTANT…] > overlay.json
// A development tool: makes the calibration shipped for a device from a committed run.
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include "hw_specs/loader.hpp"
#include "validation/calibration/fit.hpp"
#include "validation/run_file.hpp"

int main(int argc, char** argv) try {
  using namespace roofcast;
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  if (arguments.size() < 2) {
    std::fputs("usage: fit_overlay RUN.json GPU [CONSTANT…] > overlay.json\n", stderr);
    return 2;
  }
  const auto run = validation::read_run(arguments[0]);
  const specs::Embedded* spec = specs::find_embedded(arguments[1]);
  if (!run || spec == nullptr) {
    std::fputs("fit_overlay: no such run file or no such GPU\n", stderr);
    return 3;
  }
  Gpu gpu = specs::load({.file = std::string(spec->name) + ".json",
                         .text = std::string(spec->text),
                         .overlay_file = std::string(spec->name) + " calibration",
                         .overlay_text = std::string(spec->overlay_text),
                         .overrides = {}});
  validation::Timing clocks;  // for its median
  for (const validation::Case& one : run->cases) {
    if (one.sm_clock_hz) clocks.samples_s.push_back(*one.sm_clock_hz);
  }
  if (!clocks.samples_s.empty()) gpu.sustained.sm_clock_hz = clocks.median_s();
  const validation::Fit found =
      validation::fit(*run, gpu, {arguments.begin() + 2, arguments.end()});
  gpu.sustained = found.sustained;
  validation::fit_spreads(*run, gpu);
  std::fputs(validation::to_overlay(*run, arguments[0], gpu).c_str(), stdout);
  std::fprintf(stderr, "%zu cases, mean |log error| %.4f\n", found.cases,
               found.mean_absolute_error);
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "fit_overlay: %s\n", error.what());
  return 3;
}
