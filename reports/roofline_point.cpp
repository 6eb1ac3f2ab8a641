#include "reports/roofline_point.hpp"

#include <limits>
#include <utility>

#include "model/predict.hpp"
#include "model/types/parameter_text.hpp"

namespace roofcast::reports {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();

double intensity(double flops, double bytes) {
  if (bytes > 0) return flops / bytes;
  return flops > 0 ? kInfinite : 0;
}

std::vector<RoofName> roofs_of(const Work& work, DType dtype) {
  std::vector<RoofName> roofs;
  for (const DType type : kAllDTypes) {
    if (work.tensor_flops[type] > 0) roofs.push_back({"tensor", type});
  }
  // In a kernel with tensor work the vector pipes only scale and add: no roof of theirs.
  if (roofs.empty() && work.vector_flops > 0) roofs.push_back({"vector", dtype});
  return roofs;
}

std::vector<LevelIntensity> levels_of(const Work& work) {
  std::vector<LevelIntensity> levels;
  const auto add = [&](const char* level, double bytes) {
    if (bytes > 0 && work.flops() > 0) levels.push_back({level, work.flops() / bytes});
  };
  // L1 and shared memory are one array behind one port: their bytes add up.
  add("L1 + shared", work.l1.total_bytes() + work.shared_bytes);
  add("L2", work.l2.total_bytes());
  return levels;
}

/// A case's kernel and shape without settings; empty if the catalog does not know the kernel.
std::string brief_of(const validation::Row& row) {
  try {
    return row.kernel + " " + shape_text(find_kernel(row.kernel), row.problem);
  } catch (const InputError&) {
    return "";
  }
}

std::string words(const KernelRef& kernel, const Problem& problem) {
  return std::string(kernel.name()) + " " + shape_text(kernel, problem);
}

}  // namespace

std::string shape_text(const KernelRef& kernel, const Problem& problem) {
  std::string text;
  const auto parameters = kernel.parameters();
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    if (parameters[i].configures) continue;
    const std::string value = quoted_value_text(parameters[i], problem, i);
    if (value == fallback_text(parameters[i]) || value == "\"\"") continue;
    text += std::string(parameters[i].name) + "=" + value + " ";
  }
  return text.append(name(problem.dtype));
}

std::optional<Prediction> forecast_of(const validation::Row& row, const Gpu& gpu) {
  try {
    const KernelRef kernel = find_kernel(row.kernel);
    Problem problem = row.problem;
    check(kernel, problem, (1U << kernel.parameters().size()) - 1);
    return predict(kernel, problem, gpu, {row.cache, {}, kQueueNeverEmpty});
  } catch (const InputError&) {
    return std::nullopt;
  }
}

RooflinePoint roofline_point(const validation::Row& row, const Gpu& gpu) {
  RooflinePoint point;
  point.label = row.kernel + " " + row.problem_text;
  point.intensity = row.work_dram_bytes > 0 ? row.work_flops / row.work_dram_bytes : 0;
  point.predicted_flops_per_s = row.work_flops / row.time_s.predicted;
  // Forecast FLOPs over measured time: the FLOP counters do not see tensor cores.
  point.measured_flops_per_s = row.work_flops / row.time_s.measured;
  if (row.predicted_high_s > 0) point.low_flops_per_s = row.work_flops / row.predicted_high_s;
  if (row.predicted_low_s > 0) point.high_flops_per_s = row.work_flops / row.predicted_low_s;
  point.brief = brief_of(row);
  point.roofs = {{"", row.problem.dtype}};
  if (row.limit_s > 0) point.limit_flops_per_s = row.work_flops / row.limit_s;
  point.dram_bytes_per_s = row.work_dram_bytes / row.time_s.predicted;
  if (const auto prediction = forecast_of(row, gpu)) point.levels = levels_of(prediction->work);
  if (point.levels.empty() && row.l2_bytes && row.l2_bytes->predicted > 0 && row.work_flops > 0) {
    point.levels.push_back({"L2", row.work_flops / row.l2_bytes->predicted});
  }
  if (row.dram_bytes && row.dram_bytes->measured > 0) {
    point.measured_intensity = row.work_flops / row.dram_bytes->measured;
    point.measured_dram_bytes_per_s = row.dram_bytes->measured / row.time_s.measured;
  }
  return point;
}

RooflinePoint roofline_point(const KernelRef& kernel, const Prediction& prediction) {
  const Work& work = prediction.work;
  const double flops = work.flops();
  RooflinePoint point;
  point.label = words(kernel, prediction.problem);
  point.roofs = roofs_of(work, prediction.problem.dtype);
  if (prediction.limit.time_s > 0) point.limit_flops_per_s = flops / prediction.limit.time_s;
  if (!prediction.time) {
    point.is_limit = true;
    point.roofs.clear();  // its limit is of the fastest pipe, whichever that is
    point.intensity = intensity(flops, work.compulsory.total_bytes());
    point.predicted_flops_per_s = point.limit_flops_per_s.value_or(0);
    point.dram_bytes_per_s = work.compulsory.total_bytes() / prediction.limit.time_s;
    return point;
  }
  const Forecast& time = *prediction.time;
  point.intensity = intensity(flops, work.dram.total_bytes());
  point.levels = levels_of(work);
  point.predicted_flops_per_s = flops / time.expected_s;
  point.low_flops_per_s = flops / time.high_s;
  point.high_flops_per_s = flops / time.low_s;
  point.dram_bytes_per_s = work.dram.total_bytes() / time.expected_s;
  return point;
}

}  // namespace roofcast::reports
