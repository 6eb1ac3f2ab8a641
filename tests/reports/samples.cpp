#include "tests/reports/samples.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdlib>

namespace roofcast::reports {
namespace {

using validation::Comparison;
using validation::Regime;
using validation::Row;
using validation::Summary;

/// Noise in (-1, 1) that is the same everywhere.
class Noise {
 public:
  double next() {
    state_ = state_ * 6364136223846793005U + 1442695040888963407U;
    return static_cast<double>(state_ >> 11U) / 4503599627370496.0 - 1;
  }

 private:
  std::uint64_t state_ = 7;
};

struct Family {
  const char* name;
  std::array<const char*, 3> variants;
  double flops_per_byte;
  double share_of_roof;
};

constexpr std::array<Family, 5> kFamilies = {{
    {"stream", {"copy", "add", "triad"}, 0, 0.9},
    {"elementwise", {"relu", "gelu", "sincos"}, 0.8, 0.85},
    {"softmax", {"online", "row", "library"}, 1.4, 0.75},
    {"gemm", {"tiled", "mma_sync", "library"}, 310, 0.6},
    {"attention", {"standard", "flash2", "flash3"}, 140, 0.5},
}};

Row sample_row(std::size_t i, Noise& noise) {
  const Family& family = kFamilies[i % kFamilies.size()];
  const std::size_t step = i / kFamilies.size();
  const double bytes = 2e5 * std::pow(2.0, static_cast<double>(step) * 0.85);
  const double flops = bytes * family.flops_per_byte;
  const double limit = std::max(bytes / 4.8e12, flops / 990e12);
  Row row;
  row.family = family.name;
  row.kernel = row.family + "." + family.variants[step % 3];
  row.problem.dtype = DType::bf16;
  row.problem_text = "n=" + std::to_string(static_cast<long>(bytes / 4)) + " bf16";
  row.cache = CacheState::cold;
  row.limit_s = limit;
  row.bound = flops > 0 && family.flops_per_byte > 206 ? Resource::tensor : Resource::dram;
  row.time_s.predicted = 2.4e-6 + limit / family.share_of_roof;
  row.time_s.measured = row.time_s.predicted * std::exp(0.13 * noise.next() + 0.02);
  row.predicted_low_s = row.time_s.predicted * 0.92;
  row.predicted_high_s = row.time_s.predicted * 1.1;
  row.measured_low_s = row.time_s.measured * (0.985 - 0.02 * std::abs(noise.next()));
  row.measured_high_s = row.time_s.measured * (1.02 + 0.05 * std::abs(noise.next()));
  row.regime = row.time_s.measured < kLaunchBoundBelow_s ? Regime::launch_bound
               : row.bound == Resource::tensor           ? Regime::compute
                                                         : Regime::memory;
  row.work_flops = flops;
  row.work_dram_bytes = bytes;
  row.dram_bytes = validation::Pair{bytes, bytes * (1 + 0.06 * noise.next())};
  if (family.flops_per_byte > 100) {
    row.baseline = row.family + ".library";
    row.baseline_s = row.time_s.measured * (0.8 + 0.1 * noise.next());
  }
  return row;
}

Summary summarize(const std::string& group, const std::vector<Row>& rows) {
  Summary summary;
  summary.group = group;
  std::vector<double> errors;
  for (const Row& row : rows) {
    if (!group.empty() && row.family != group) continue;
    const double error = row.time_s.error();
    errors.push_back(std::abs(error));
    if (std::abs(error) > std::abs(summary.worst_error)) summary.worst_error = error;
    if (row.time_s.measured >= row.predicted_low_s && row.time_s.measured <= row.predicted_high_s) {
      summary.coverage += 1;
    }
  }
  summary.cases = errors.size();
  for (const double error : errors) {
    summary.mean_absolute_error += error / static_cast<double>(errors.size());
  }
  summary.coverage /= static_cast<double>(errors.size());
  std::sort(errors.begin(), errors.end());
  summary.median_absolute_error = errors[errors.size() / 2];
  summary.dram_error = 0.03;
  return summary;
}

}  // namespace

Gpu sample_gpu() {
  Gpu gpu;
  gpu.name = "sample";
  gpu.title = "Sample accelerator 141 GB";
  gpu.sm_count = 132;
  gpu.clocks = {.vector_boost_hz = 1.98e9,
                .tensor_boost_hz = 1.83e9,
                .tensor_fp64_boost_hz = 1.98e9,
                .max_hz = 1.98e9};
  gpu.sm.vector_flop_per_clk[DType::fp64] = 128;
  gpu.sm.vector_flop_per_clk[DType::fp32] = 256;
  gpu.sm.vector_flop_per_clk[DType::fp16] = 512;
  gpu.sm.tensor_flop_per_clk[DType::fp64] = 256;
  gpu.sm.tensor_flop_per_clk[DType::tf32] = 2048;
  gpu.sm.tensor_flop_per_clk[DType::fp16] = 4096;
  gpu.sm.tensor_flop_per_clk[DType::bf16] = 4096;
  gpu.sm.tensor_flop_per_clk[DType::fp8] = 8192;
  gpu.sm.tensor_flop_per_clk[DType::int8] = 8192;
  gpu.sm.shared_bytes_per_clk = 128;
  gpu.sm.l2_bytes_per_clk = 64;
  gpu.memory.dram_bandwidth_bytes_per_s = 4.8e12;
  gpu.sustained.source = "run of 2025-11-20 on one device";
  gpu.sustained.dram_read_bytes_per_s = 4.21e12;
  gpu.sustained.l2_bandwidth_bytes_per_s = 7.4e12;
  return gpu;
}

std::vector<Gpu> sample_generations() {
  std::vector<Gpu> gpus;
  double scale = 1;
  for (const char* architecture : {"old", "middle", "new", "new", "newest"}) {
    Gpu gpu = sample_gpu();
    gpu.architecture = architecture;
    gpu.name = std::string(architecture) + (gpus.size() == 3 ? "-large" : "");
    gpu.year = 2016 + 2 * static_cast<std::int64_t>(gpus.size());
    gpu.sm.tensor_flop_per_clk[DType::fp16] = 512 * scale;
    gpu.sm.tensor_flop_per_clk[DType::bf16] = gpu.sm.tensor_flop_per_clk[DType::tf32] =
        std::nullopt;
    gpu.sm.vector_flop_per_clk[DType::fp16] = 256;
    gpu.memory.dram_bandwidth_bytes_per_s = 0.5e12 * std::sqrt(scale);
    gpus.push_back(gpu);
    scale *= 3;
  }
  return gpus;
}

std::vector<RooflinePoint> sample_points() {
  const std::string shape = " m=4096 n=4096 k=4096 fp32";
  return {{"gemm.naive" + shape, 12, 0.62e12, 10.2, 0.31e12},
          {"gemm.coalesced" + shape, 42, 5.4e12, 38, 6.1e12},
          {"gemm.tiled" + shape, 160, 11.8e12, 145, 9.3e12},
          {"gemm.vectorized" + shape, 330, 41e12, 290, 43.5e12},
          {"gemm.mma_sync m=4096 n=4096 k=4096 bf16", 700, 420e12, 640, 352e12},
          {"gemm.library m=4096 n=4096 k=4096 bf16", 900, 745e12, 1010, 722e12}};
}

Comparison sample_comparison() {
  Comparison comparison;
  comparison.gpu = "sample";
  comparison.device = "Sample accelerator";
  comparison.date = "2025-11-20T18:04:11Z";
  Noise noise;
  for (std::size_t i = 0; i < 80; ++i) comparison.rows.push_back(sample_row(i, noise));
  comparison.rows[60].time_s.measured = comparison.rows[60].limit_s * 0.97;
  comparison.bound_violations = {60};
  for (const Family& family : kFamilies) {
    comparison.by_family.push_back(summarize(family.name, comparison.rows));
  }
  comparison.overall = summarize("", comparison.rows);
  comparison.by_regime = comparison.by_family;
  for (Summary& summary : comparison.by_regime) summary.group = "of " + summary.group;
  for (std::size_t i = 0; i < comparison.rows.size(); ++i) comparison.worst.push_back(i);
  std::sort(comparison.worst.begin(), comparison.worst.end(), [&](std::size_t a, std::size_t b) {
    return std::abs(comparison.rows[a].time_s.error()) >
           std::abs(comparison.rows[b].time_s.error());
  });
  comparison.worst.resize(10);
  Problem problem;
  problem.dtype = DType::fp16;
  problem.values = {128, 256, 512};
  comparison.failures = {{"gemm.tiled", problem, "wrong output: 0.8 against 1.2"},
                         {"gone.kernel", problem, "refused: too many registers"}};
  return comparison;
}

validation::Run sample_run() {
  validation::Run run;
  run.suite = "default";
  run.date = "2025-11-20T18:04:11Z";
  run.build = "0.1.0 (sample)";
  run.device.driver = "570.86";
  run.device.cuda_runtime = "12.8";
  run.device.power_limit_w = 700;
  return run;
}

}  // namespace roofcast::reports
