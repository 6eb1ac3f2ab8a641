#include "validation/calibration/fit_reference.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <map>

#include "model/predict.hpp"
#include "validation/calibration/bounded_fit.hpp"
#include "validation/comparison/compare.hpp"

namespace roofcast::validation {
namespace {

struct Choice {
  std::string_view name;
  Moving value;
};

// The bounds are half of the datasheet's DRAM bandwidth and all of it.
std::vector<Choice> choices(const Gpu& gpu) {
  if (!gpu.memory.dram_bandwidth_bytes_per_s) {
    throw InputError(gpu.name + " has no DRAM bandwidth: add it to its specification");
  }
  const double dram = *gpu.memory.dram_bandwidth_bytes_per_s;
  return {
      {"dram_read_bytes_per_s", {&Sustained::dram_read_bytes_per_s, 0.85 * dram, 0.5 * dram, dram}},
      {"dram_write_bytes_per_s",
       {&Sustained::dram_write_bytes_per_s, 0.85 * dram, 0.5 * dram, dram}}};
}

double rounded(double value) {
  char text[32];
  (void)std::snprintf(text, sizeof text, "%.4g", value);
  return std::strtod(text, nullptr);
}

void set_spreads(std::span<const ReferenceRow> rows, Gpu& gpu) {
  std::map<std::pair<Regime, std::string_view>, Timing> errors;  // for their percentiles
  for (const ReferenceRow& row : rows) {
    if (!row.fitted) continue;
    const Regime regime = compare_case(row.measured, gpu).regime;
    if (regime == Regime::launch_bound) continue;  // the launch cost is the table's, not the GPU's
    const double ratio = std::exp(std::abs(log_error(row, gpu)));
    errors[{regime, row.group}].samples_s.push_back(ratio - 1);
  }
  Sustained& sustained = gpu.sustained;
  const std::array spreads = {&sustained.spread_launch_bound, &sustained.spread_memory,
                              &sustained.spread_compute};
  for (auto* spread : spreads) spread->reset();
  for (const auto& [key, found] : errors) {
    auto& spread = *spreads[static_cast<std::size_t>(key.first)];
    spread = rounded(std::max(spread.value_or(0), found.percentile_s(kCoveredByInterval)));
  }
}

}  // namespace

double log_error(const ReferenceRow& row, const Gpu& gpu) {
  const Prediction answer = predict(find_kernel(row.measured.kernel), row.measured.problem, gpu,
                                    {row.measured.cache, {}});
  return std::log(answer.time->expected_s / row.measured.timing.median_s());
}

std::vector<std::pair<std::string_view, double>> fit_reference(
    std::span<const ReferenceRow> rows, std::span<const std::string_view> names, Gpu& gpu) {
  std::map<std::string_view, double> weights;
  for (const ReferenceRow& row : rows) weights[row.group] += row.fitted ? 1 : 0;
  std::erase_if(weights, [](const auto& entry) { return entry.second == 0; });
  if (weights.empty()) throw InputError("the table has no row to fit to: check the GPU's name");
  for (auto& [group, weight] : weights) {
    weight = 1 / (weight * static_cast<double>(weights.size()));
  }
  std::vector<Moving> moving;
  std::vector<std::pair<std::string_view, double>> fitted;
  for (const Choice& choice : choices(gpu)) {
    if (std::find(names.begin(), names.end(), choice.name) == names.end()) continue;
    moving.push_back(choice.value);
    fitted.emplace_back(choice.name, 0);
  }
  fit_bounded(moving, gpu, [&](const Gpu& tried) {
    double sum = 0;
    for (const ReferenceRow& row : rows) {
      if (row.fitted) sum += weights.at(row.group) * std::abs(log_error(row, tried));
    }
    return sum;
  });
  for (std::size_t i = 0; i < moving.size(); ++i) {
    auto& value = gpu.sustained.*moving[i].member;
    value = fitted[i].second = rounded(*value);
  }
  set_spreads(rows, gpu);
  return fitted;
}

}  // namespace roofcast::validation
