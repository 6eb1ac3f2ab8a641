// How long a forecast takes: the library call, and a line of a batch with its parsing and printing.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include "advice/advice.hpp"
#include "cli/commands/batch.hpp"
#include "cli/input/device.hpp"
#include "model/roofcast.hpp"

namespace {

constexpr std::string_view kKernel = "gemm.tiled";
constexpr std::string_view kLine =
    R"({"kernel":"gemm.tiled","gpu":"h200-sxm","m":4096,"n":4096,"k":4096,"dtype":"fp32"})";

void predict_call(benchmark::State& state) {
  const roofcast::Gpu gpu = roofcast::cli::load_device("h200-sxm", {});
  const roofcast::KernelRef kernel = roofcast::find_kernel(kKernel);
  roofcast::Problem problem;
  problem.values = {4096, 4096, 4096};
  constexpr unsigned kShapeGiven = 0b111;
  roofcast::check(kernel, problem, kShapeGiven);
  while (state.KeepRunning()) {
    benchmark::DoNotOptimize(roofcast::predict(kernel, problem, gpu));
  }
}
BENCHMARK(predict_call);

/// The C++ share of a call of the Python module, which adds its own cost.
void predict_copy(benchmark::State& state) {
  const roofcast::Gpu gpu = roofcast::cli::load_device("h200-sxm", {});
  const roofcast::KernelRef kernel = roofcast::find_kernel("stream.copy");
  while (state.KeepRunning()) {
    roofcast::Problem problem;
    problem.values = {std::int64_t{1} << 28};
    roofcast::check(kernel, problem, 1);
    benchmark::DoNotOptimize(roofcast::predict(kernel, problem, gpu));
  }
}
BENCHMARK(predict_copy);

void batch_line(benchmark::State& state) {
  roofcast::cli::Batch batch({});
  fmt::memory_buffer out;
  while (state.KeepRunning()) {
    out.clear();
    benchmark::DoNotOptimize(batch.answer(kLine, 1, out));
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(batch_line);

void advise_call(benchmark::State& state) {
  const roofcast::Gpu gpu = roofcast::cli::load_device("h200-sxm", {});
  const roofcast::KernelRef kernel = roofcast::find_kernel("gemm.library");
  roofcast::Problem problem;
  problem.dtype = roofcast::DType::bf16;
  problem.values = {4095, 50257, 4097};
  constexpr unsigned kShapeGiven = 0b111;
  roofcast::check(kernel, problem, kShapeGiven);
  while (state.KeepRunning()) {
    benchmark::DoNotOptimize(roofcast::advise_shapes({kernel, problem, gpu}, {}));
  }
}
BENCHMARK(advise_call)->Unit(benchmark::kMillisecond);

void load_specification(benchmark::State& state) {
  while (state.KeepRunning()) {
    benchmark::DoNotOptimize(roofcast::cli::load_device("h200-sxm", {}));
  }
}
BENCHMARK(load_specification);

}  // namespace

BENCHMARK_MAIN();
