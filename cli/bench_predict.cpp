// How long a forecast takes: the library call, and a line of a batch with its parsing and printing.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <random>
#include <string>
#include <vector>

#include "advice/advice.hpp"
#include "cli/commands/batch.hpp"
#include "cli/input/device.hpp"
#include "model/roofcast.hpp"

namespace {

constexpr std::string_view kKernel = "gemm.tiled";

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

/// Query lines of one kernel, the extents drawn from 64 to 16384 in multiples of 8.
std::vector<std::string> random_lines(std::string_view kernel, std::string_view dtype) {
  constexpr int kLines = 1000;
  std::mt19937 random(11);  // the same on every machine
  const auto extent = [&random] {
    const std::uint32_t octave = 8U << random() % 8;
    return 8 * (octave + random() % octave);
  };
  std::vector<std::string> lines;
  for (int i = 0; i < kLines; ++i) {
    const auto shape = kernel == "stream.copy"
                           ? fmt::format(R"("n":{})", extent() * extent())
                           : fmt::format(R"("m":{},"n":{},"k":{})", extent(), extent(), extent());
    lines.push_back(
        fmt::format(R"({{"kernel":"{}","gpu":"h200-sxm",{},"dtype":"{}"}})", kernel, shape, dtype));
  }
  return lines;
}

void batch_lines(benchmark::State& state, std::string_view kernel, std::string_view dtype) {
  const std::vector<std::string> lines = random_lines(kernel, dtype);
  roofcast::cli::Batch batch({});
  fmt::memory_buffer out;
  while (state.KeepRunning()) {
    for (const std::string& line : lines) {
      out.clear();
      benchmark::DoNotOptimize(batch.answer(line, 1, out));
    }
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(lines.size()));
}
BENCHMARK_CAPTURE(batch_lines, copy, "stream.copy", "fp32")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(batch_lines, vectorized, "gemm.vectorized", "fp32")
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(batch_lines, wgmma, "gemm.wgmma", "bf16")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(batch_lines, library, "gemm.library", "bf16")->Unit(benchmark::kMillisecond);

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
