#include <chrono>

#include "validation/calibration/microbench/lab.hpp"
#include "validation/calibration/microbench/microbench.hpp"

namespace roofcast::microbench {
namespace {

__global__ void do_nothing() {}

constexpr double kBusy_s = 50e-6;  // longer than three host calls take
constexpr int kSamples = 41;
constexpr int kLaunches = 256;  // fewer than a stream's queue holds

void enqueue_null(Lab& lab) {
  do_nothing<<<1, 32, 0, lab.stream()>>>();
  check(cudaGetLastError());
}

// Seconds per launch, back to back, all enqueued before the first starts.
double queued_s(Lab& lab) {
  constexpr double kEnqueueAll_s = 4e-3;
  return lab.seconds_after([&] { lab.spin(kEnqueueAll_s); },
                           [&] {
                             for (int i = 0; i < kLaunches; ++i) enqueue_null(lab);
                           },
                           5) /
         kLaunches;
}

double host_s(Lab& lab, bool device_busy) {
  std::vector<double> seconds;
  for (int sample = 0; sample < kSamples; ++sample) {
    lab.wait();
    if (device_busy) lab.spin(2e-3);
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < kLaunches; ++i) enqueue_null(lab);
    if (!device_busy) lab.wait();
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    seconds.push_back(took.count() / kLaunches);
  }
  lab.wait();
  return median(seconds);
}

double graph_s(Lab& lab) {
  check(cudaStreamBeginCapture(lab.stream(), cudaStreamCaptureModeThreadLocal));
  for (int i = 0; i < kLaunches; ++i) enqueue_null(lab);
  cudaGraph_t captured = nullptr;
  check(cudaStreamEndCapture(lab.stream(), &captured));
  const harness::Graph graph(captured);
  cudaGraphExec_t executable = nullptr;
  check(cudaGraphInstantiate(&executable, graph.get(), 0));
  const harness::GraphExec ready(executable);
  const auto run = [&] { check(cudaGraphLaunch(ready.get(), lab.stream())); };
  return lab.seconds_after(run, run, 11) / kLaunches;  // the first hides the host's launch
}

}  // namespace

Curves launch(Lab& lab) {
  const auto one = [](const char* series, double seconds) {
    return validation::single("launch", series, "s", seconds);
  };
  enqueue_null(lab);  // loads the module
  return {one("alone between two events",
              lab.seconds_after([&] { lab.spin(kBusy_s); }, [&] { enqueue_null(lab); }, kSamples)),
          one("nothing between two events",
              lab.seconds_after([&] { lab.spin(kBusy_s); }, [] {}, kSamples)),
          one("each of many, queued", queued_s(lab)),
          one("each of many, in a graph", graph_s(lab)),
          one("host, device busy", host_s(lab, true)),
          one("host and device together", host_s(lab, false))};
}

}  // namespace roofcast::microbench
