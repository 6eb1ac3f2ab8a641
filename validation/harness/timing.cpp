#include "validation/harness/timing.hpp"

#include <algorithm>

#include "validation/harness/interrupt.hpp"

namespace roofcast::harness {
namespace {

constexpr double kBudget = 0.3;       // seconds of samples per case
constexpr double kSlowBudget = 1.2;   // seconds, for kernels so slow that kBudget holds few samples
constexpr double kOverhead = 150e-6;  // seconds per sample for flush, probes and waiting
constexpr std::int64_t kMostSamples = 41;
constexpr std::int64_t kEnoughSamples = 11;
constexpr std::int64_t kFewestSamples = 3;

std::int64_t sample_count(double seconds_a_sample) {
  const auto within = [&](double budget) {
    return static_cast<std::int64_t>(budget / (seconds_a_sample + kOverhead));
  };
  if (within(kBudget) >= kEnoughSamples) return std::min(within(kBudget), kMostSamples);
  return std::clamp(within(kSlowBudget), kFewestSamples, kEnoughSamples);
}

}  // namespace

Timer::Timer(const L2Flush& flush, int sm_count)
    : flush_(flush),
      stream_(make_stream()),
      start_(make_event()),
      stop_(make_event()),
      probe_(sm_count) {}

double Timer::time_cold(const Launcher& launch, ClockProbe* probe,
                        const std::function<void(cudaStream_t)>& before) {
  flush_.enqueue(stream());
  if (before) before(stream());
  if (probe != nullptr) probe->begin(stream());
  check(cudaEventRecord(start_.get(), stream()));
  launch(0, stream());
  check(cudaEventRecord(stop_.get(), stream()));
  if (probe != nullptr) probe->end(stream());
  check(cudaStreamSynchronize(stream()));
  return seconds_between(start_, stop_);
}

double Timer::estimate_cold_s(const Launcher& launch) {
  constexpr double kSlow = 0.05;  // seconds: slower kernels are timed once
  const double first = time_cold(launch, nullptr);
  if (first > kSlow) return first;
  return std::min({first, time_cold(launch, nullptr), time_cold(launch, nullptr)});
}

double Timer::warm_up(const Launcher& baseline) {
  if (!baseline) return 0;
  (void)time_cold(baseline, nullptr);
  return estimate_cold_s(baseline);
}

Timed Timer::alternate(double seconds_a_sample, const Sample& kernel, const Sample& baseline) {
  probe_.restart(stream());
  Timed out;
  for (std::int64_t i = sample_count(seconds_a_sample); i > 0; --i) {
    stop_if_raised();
    out.kernel.samples_s.push_back(kernel(&probe_));
    if (baseline) out.baseline.samples_s.push_back(baseline(nullptr));
  }
  out.sm_clock_hz = probe_.clock_hz(stream());
  return out;
}

Timed Timer::single(const Contenders& contenders, double estimate_s) {
  const double seconds_a_sample = estimate_s + warm_up(contenders.baseline);
  const auto time_kernel = [&](ClockProbe* probe) {
    return time_cold(contenders.kernel, probe, contenders.before);
  };
  const auto time_baseline = [&](ClockProbe* probe) {
    return time_cold(contenders.baseline, probe, contenders.before);
  };
  return alternate(seconds_a_sample, time_kernel,
                   contenders.baseline ? Sample(time_baseline) : nullptr);
}

GraphExec Timer::capture(const Launcher& launch, std::size_t sets, std::size_t launches) {
  check(cudaStreamBeginCapture(stream(), cudaStreamCaptureModeThreadLocal));
  cudaGraph_t captured = nullptr;
  try {
    for (std::size_t i = 0; i < launches; ++i) launch(i % sets, stream());
  } catch (...) {
    (void)cudaStreamEndCapture(stream(), &captured);
    const Graph discarded(captured);
    (void)cudaGetLastError();  // the capture's failure must not be blamed on the next case
    throw;
  }
  check(cudaStreamEndCapture(stream(), &captured));
  const Graph graph(captured);
  cudaGraphExec_t executable = nullptr;
  check(cudaGraphInstantiate(&executable, graph.get(), 0));
  return GraphExec(executable);
}

double Timer::time_graph(cudaGraphExec_t graph, std::size_t launches, ClockProbe* probe) {
  if (probe != nullptr) probe->begin(stream());
  check(cudaGraphLaunch(graph, stream()));
  check(cudaEventRecord(start_.get(), stream()));
  check(cudaGraphLaunch(graph, stream()));
  check(cudaEventRecord(stop_.get(), stream()));
  if (probe != nullptr) probe->end(stream());
  check(cudaStreamSynchronize(stream()));
  return seconds_between(start_, stop_) / static_cast<double>(launches);
}

Timed Timer::steady(const Contenders& contenders, double estimate_s, std::size_t sets,
                    std::size_t launches) {
  const double baseline_s = warm_up(contenders.baseline);
  const GraphExec kernel = capture(contenders.kernel, sets, launches);
  const GraphExec baseline =
      contenders.baseline ? capture(contenders.baseline, sets, launches) : nullptr;
  const double seconds_a_sample = 2 * static_cast<double>(launches) * (estimate_s + baseline_s);
  const auto time_kernel = [&](ClockProbe* probe) {
    return time_graph(kernel.get(), launches, probe);
  };
  const auto time_baseline = [&](ClockProbe* probe) {
    return time_graph(baseline.get(), launches, probe);
  };
  (void)time_kernel(nullptr);
  if (baseline) (void)time_baseline(nullptr);
  Timed out = alternate(seconds_a_sample, time_kernel, baseline ? Sample(time_baseline) : nullptr);
  out.kernel.launches_per_sample = static_cast<std::int64_t>(launches);
  out.baseline.launches_per_sample = out.kernel.launches_per_sample;
  return out;
}

}  // namespace roofcast::harness
