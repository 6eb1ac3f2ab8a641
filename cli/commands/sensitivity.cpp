#include "cli/commands/sensitivity.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "cli/output/signals.hpp"
#include "validation/runs/numbers.hpp"

namespace roofcast::cli {
namespace {

constexpr double kLarger = 1.1;
/// Smallest relative change of the time that is reported.
constexpr double kLeast = 5e-4;

double expected_s(const KernelRef& kernel, const Problem& problem, const Gpu& gpu,
                  const Assumptions& assumptions) {
  const Prediction prediction = predict(kernel, problem, gpu, assumptions);
  if (prediction.time) return prediction.time->expected_s;
  throw InputError(prediction.notes.empty() ? "no expected time" : prediction.notes.front());
}

/// A tenth more, rounded up where the specification writes a whole number.
double larger(const std::string& text, double value) {
  const bool whole = text.find_first_of(".eE") == std::string::npos;
  return whole ? std::ceil(value * kLarger) : value * kLarger;
}

}  // namespace

std::vector<Sensitivity> sensitivities(const KernelRef& kernel, const Problem& problem,
                                       const std::string& device, const DeviceOptions& options,
                                       const Assumptions& assumptions) {
  const specs::Source source = device_source(device, options);
  const specs::Loader loader(source);
  std::vector<specs::Override> overrides = source.overrides;
  const double now_s = expected_s(kernel, problem, loader.load(overrides), assumptions);
  std::vector<Sensitivity> found;
  overrides.emplace_back();
  for (const specs::SourcedValue& value : specs::values_with_sources(source)) {
    stop_if_interrupted();
    const auto number = validation::number_of<double>(value.value);
    if (!number || *number <= 0) continue;
    Sensitivity one{value.pointer.substr(1), value.source, *number, larger(value.value, *number)};
    overrides.back() = {one.key, fmt::format("{}", one.larger)};
    try {
      const double then_s = expected_s(kernel, problem, loader.load(overrides), assumptions);
      one.change = then_s / now_s - 1;
      if (std::abs(one.change) >= kLeast) found.push_back(std::move(one));
    } catch (const InputError&) {
      continue;  // a rule of the specification refuses the larger value
    }
  }
  std::stable_sort(found.begin(), found.end(), [](const Sensitivity& a, const Sensitivity& b) {
    return std::abs(a.change) > std::abs(b.change);
  });
  return found;
}

}  // namespace roofcast::cli
