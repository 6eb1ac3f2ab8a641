#include "validation/calibration/fit.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "model/predict.hpp"
#include "validation/calibration/bounded_fit.hpp"
#include "validation/comparison/compare.hpp"

namespace roofcast::validation {
namespace {

/// The cases that a constant is fitted to: kernels bound by the SMs (matrix products and
/// kBoundBySms), or all others. Streaming is fitted first, since the forecasts of products depend
/// on it.
enum class FitGroup : unsigned char { by_streaming, by_products };

/// One value of Sustained that a fit may choose.
struct Constant {
  std::string_view name;  ///< as in the overlay
  FitGroup told;
  std::optional<double> Sustained::*member;
  double start;
  double least;
  double most;
};

constexpr std::array kConstants = {
    Constant{"dram_read_bytes_per_s", FitGroup::by_streaming, &Sustained::dram_read_bytes_per_s,
             4.3e12, 1e11, 2e13},
    Constant{"dram_write_bytes_per_s", FitGroup::by_streaming, &Sustained::dram_write_bytes_per_s,
             4.3e12, 1e11, 2e13},
    Constant{"l2_bandwidth_bytes_per_s", FitGroup::by_streaming,
             &Sustained::l2_bandwidth_bytes_per_s, 7e12, 1e12, 5e13},
    Constant{"dram_scattered_bytes_per_s", FitGroup::by_streaming,
             &Sustained::dram_scattered_bytes_per_s, 2.6e12, 1e11, 1e13},
    Constant{"first_access_s", FitGroup::by_streaming, &Sustained::first_access_s, 4e-7, 1e-8,
             1e-5},
    Constant{"warp_launch_cycles", FitGroup::by_streaming, &Sustained::warp_launch_cycles, 20, 0.1,
             1e4},
    Constant{"barrier_cycles", FitGroup::by_products, &Sustained::barrier_cycles, 50, 1, 1e3},
    Constant{"l1_tags_per_clk", FitGroup::by_products, &Sustained::l1_tags_per_clk, 3, 0.25, 64},
};

bool holds(const std::vector<std::string>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// Cases of even index: the others are for validation.
std::vector<const Case*> training_cases(const Run& run) {
  std::vector<const Case*> cases;
  for (std::size_t i = 0; i < run.cases.size(); i += 2) cases.push_back(&run.cases[i]);
  return cases;
}

// Cost of a launch: median time of the empty kernel.
std::optional<double> launch_s(const Run& run, CacheState cache) {
  for (const Case& one : run.cases) {
    if (one.kernel == "stream.null" && one.cache == cache && one.problem[0] == 1) {
      return one.timing.median_s();
    }
  }
  return std::nullopt;
}

// Median SM clock over the cases.
std::optional<double> clock_hz(const Run& run) {
  Timing clocks;  // for its median
  for (const Case& one : run.cases) {
    if (one.sm_clock_hz) clocks.samples_s.push_back(*one.sm_clock_hz);
  }
  return clocks.samples_s.empty() ? std::nullopt : std::optional(clocks.median_s());
}

std::vector<const Case*> training_cases(const Run& run, FitGroup told) {
  // Kernels bound by the SMs, whose cases fit the constants of the SMs.
  static constexpr std::array<std::string_view, 4> kBoundBySms = {
      "gemm.", "divergence.", "access.shared", "transpose.tiled"};
  std::vector<const Case*> cases = training_cases(run);
  std::erase_if(cases, [told](const Case* one) {
    const bool by_sms = std::any_of(kBoundBySms.begin(), kBoundBySms.end(),
                                    [&](auto prefix) { return one->kernel.starts_with(prefix); });
    return by_sms != (told == FitGroup::by_products);
  });
  return cases;
}

// |log(predicted ÷ measured)|, rounded off below 1% so that the search has a slope to follow.
double log_error(double predicted, double measured) {
  constexpr double kRounded = 0.01;
  return std::hypot(std::log(std::max(predicted, 1e-12) / measured), kRounded) - kRounded;
}

constexpr double kDramWeight = 0.5;
constexpr double kDramCountedAbove_bytes = 64e6;  // below, L2 holds most of the data

double cost(const std::vector<const Case*>& cases, const Gpu& gpu) {
  double sum = 0;
  for (const Case* one : cases) {
    const KernelRef kernel = find_kernel(one->kernel);
    const Prediction timed =
        predict(kernel, one->problem, gpu, {one->cache, one->sm_clock_hz, kQueueNeverEmpty});
    sum += log_error(timed.time->expected_s, one->timing.median_s());
    const Counters& counted = one->counters;
    if (counted.dram_read_bytes && counted.dram_write_bytes) {
      const double measured = *counted.dram_read_bytes + *counted.dram_write_bytes;
      if (measured > kDramCountedAbove_bytes) {
        const Prediction cold = predict(kernel, one->problem, gpu, {CacheState::cold, {}});
        sum += kDramWeight * log_error(cold.work.dram.total_bytes(), measured);
      }
    }
  }
  return sum / static_cast<double>(cases.size());
}

constexpr int kTurns = 3;

// Sustained DRAM bandwidth is at most the datasheet's.
double sheet_limit(const Constant& constant, const Gpu& gpu) {
  const bool dram = constant.member == &Sustained::dram_read_bytes_per_s ||
                    constant.member == &Sustained::dram_write_bytes_per_s;
  return dram ? gpu.memory.dram_bandwidth_bytes_per_s.value_or(constant.most) : constant.most;
}

std::vector<Moving> moving_constants(FitGroup told, const FitScope& scope, const Gpu& gpu) {
  std::vector<Moving> moving;
  for (const Constant& constant : kConstants) {
    if (constant.told != told || !scope.moves(constant.name)) continue;
    moving.push_back({constant.member, (gpu.sustained.*constant.member).value_or(constant.start),
                      constant.least, std::min(constant.most, sheet_limit(constant, gpu))});
  }
  return moving;
}

const Constant& constant_named(const std::string& name) {
  const auto found = std::find_if(kConstants.begin(), kConstants.end(),
                                  [&](const Constant& one) { return one.name == name; });
  if (found != kConstants.end()) return *found;
  throw InputError("no constant \"" + name + "\" is fitted. Mend: name one of " +
                   listed(kConstants, [](const Constant& one) { return one.name; }) + ".");
}

}  // namespace

bool FitScope::fixes(std::string_view name) const {
  return held.contains(name) || (holds(fixed, name) && !holds(only, name));
}

bool FitScope::moves(std::string_view name) const {
  if (held.contains(name)) return false;
  return only.empty() ? !holds(fixed, name) : holds(only, name);
}

Fit fit(const Run& run, const Gpu& start, const FitScope& scope) {
  for (const std::string& name : scope.only) (void)constant_named(name);
  Gpu gpu = start;
  for (const auto& [name, value] : scope.held) {
    gpu.sustained.*constant_named(name).member = value;
  }
  Sustained& sustained = gpu.sustained;
  const auto take = [&](std::optional<double>& value, std::string_view name,
                        const std::optional<double>& median) {
    if (median && !(value && scope.fixes(name))) value = median;
  };
  take(sustained.stream_launch_s, "stream_launch_s", launch_s(run, CacheState::cold));
  take(sustained.graph_launch_s, "graph_launch_s", launch_s(run, CacheState::steady));
  take(sustained.sm_clock_hz, "sm_clock_hz", clock_hz(run));
  double found = 0;
  std::size_t cases = 0;
  // The groups depend on each other weakly: they are fitted alternately, kTurns times.
  for (int turn = 0; turn < kTurns; ++turn) {
    found = 0;
    cases = 0;
    for (const FitGroup told : {FitGroup::by_streaming, FitGroup::by_products}) {
      const std::vector<const Case*> told_by = training_cases(run, told);
      if (told_by.empty()) continue;
      cases += told_by.size();
      found += static_cast<double>(told_by.size()) *
               fit_bounded(moving_constants(told, scope, gpu), gpu,
                           [&](const Gpu& moved) { return cost(told_by, moved); });
    }
  }
  if (cases == 0) throw InputError("the run has no case to fit to: measure a suite first");
  return {gpu.sustained, found / static_cast<double>(cases), cases};
}

void fit_spreads(const Run& run, Gpu& gpu) {
  std::array<Timing, 3> errors;  // by Regime; for the percentile
  for (const Case* one : training_cases(run)) {
    const Row row = compare_case(*one, gpu);
    const double ratio = row.time_s.measured / row.time_s.predicted;
    errors[static_cast<std::size_t>(row.regime)].samples_s.push_back(std::max(ratio, 1 / ratio) -
                                                                     1);
  }
  const auto spread = [&errors](Regime regime) -> std::optional<double> {
    const Timing& found = errors[static_cast<std::size_t>(regime)];
    constexpr double kCovered = 0.98;
    return found.samples_s.empty() ? std::nullopt : std::optional(found.percentile_s(kCovered));
  };
  gpu.sustained.spread_launch_bound = spread(Regime::launch_bound);
  gpu.sustained.spread_memory = spread(Regime::memory);
  gpu.sustained.spread_compute = spread(Regime::compute);
}

Overlay fitted_overlay(const Run& run, const std::string& run_file, const Gpu& gpu,
                       const Overlay& base, const FitScope& scope) {
  Overlay out;
  out.gpu = gpu.name;
  out.provenance = {run_file,
                    run.date,
                    run.device.device,
                    run.device.driver,
                    run.device.cuda_runtime,
                    base.provenance.note};
  constexpr std::size_t kDay = 10;  // YYYY-MM-DD
  const auto source = [&](std::string_view key, const std::string& title) {
    out.sources.push_back({std::string(key), title + " of " + run_file, run.date.substr(0, kDay)});
  };
  source("FIT", "least mean |log error| of time and DRAM bytes over the cases of even index");
  source("NULL", "median of stream.null, alone between two events and in a graph,");
  source("CLOCK", "median SM clock over the cases");
  source("SPREAD", "98th percentile of the error over the cases of even index");

  if (!scope.held.empty()) source("HELD", "held at a value given by hand, in a fit");
  for (const auto& [name, value] : scope.held) out.values.push_back({name, value, "HELD", ""});

  const auto put = [&](std::string_view name, const std::optional<double>& value,
                       std::string_view key) {
    if (out.find(name) != nullptr) return;
    if (!value || (scope.fixes(name) && base.find(name) != nullptr)) return;  // base's is kept
    out.values.push_back({std::string(name), *value, std::string(key), ""});
  };
  for (const Constant& constant : kConstants) {
    put(constant.name, gpu.sustained.*constant.member, "FIT");
  }
  put("sm_clock_hz", gpu.sustained.sm_clock_hz, "CLOCK");
  put("stream_launch_s", gpu.sustained.stream_launch_s, "NULL");
  put("graph_launch_s", gpu.sustained.graph_launch_s, "NULL");
  put("spread_launch_bound", gpu.sustained.spread_launch_bound, "SPREAD");
  put("spread_memory", gpu.sustained.spread_memory, "SPREAD");
  put("spread_compute", gpu.sustained.spread_compute, "SPREAD");
  keep_missing(out, base);
  return out;
}

}  // namespace roofcast::validation
