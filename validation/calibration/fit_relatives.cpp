#include "validation/calibration/fit_relatives.hpp"

#include <algorithm>
#include <cmath>

#include "hw_specs/loader.hpp"
#include "hw_specs/relative.hpp"
#include "validation/calibration/bounded_fit.hpp"
#include "validation/calibration/fit_reference.hpp"
#include "validation/comparison/table.hpp"

namespace roofcast::validation {

Gpu left_out(const std::string& name) {
  const specs::Embedded* spec = specs::find_embedded(name);
  if (spec == nullptr) throw InputError("no GPU in hw_specs/ is named \"" + name + "\"");
  Gpu gpu = specs::load({.file = name + ".json",
                         .text = std::string(spec->text),
                         .overlay_file = "",
                         .overlay_text = "",
                         .overrides = {},
                         .datasheet_only = true});
  std::vector<Gpu> others(specs::measured_gpus().begin(), specs::measured_gpus().end());
  std::erase_if(others, [&name](const Gpu& other) { return other.name == name; });
  const Gpu* relative = specs::nearest(gpu, others);
  if (relative == nullptr) {
    throw InputError("no other GPU than \"" + name + "\" was measured: calibrate a second one");
  }
  specs::take_values(*relative, gpu);
  return gpu;
}

LeftOut judge(const Gpu& gpu, std::span<const Row> rows) {
  if (rows.empty()) throw InputError("there is no row of " + gpu.name + ": measure a suite first");
  LeftOut out;
  out.gpu = gpu.name;
  out.relative = gpu.sustained.relative;
  const auto measured = specs::measured_gpus();
  const auto relative = std::find_if(measured.begin(), measured.end(),
                                     [&out](const Gpu& one) { return one.name == out.relative; });
  out.same_die = relative != measured.end() && specs::same_die(gpu, *relative);
  out.cases = rows.size();
  Timing widenings;  // for their percentile
  for (const Row& row : rows) {
    const Pair& time = row.time_s;
    out.mean_absolute_error += std::abs(time.error()) / static_cast<double>(rows.size());
    const double needed =
        std::max(time.measured / time.predicted, time.predicted / time.measured) - 1;
    const double half_width = row.predicted_high_s / time.predicted - 1;
    widenings.samples_s.push_back(needed / half_width);
  }
  out.widening = std::max(1.0, widenings.percentile_s(kCoveredByInterval));
  return out;
}

std::vector<Row> held_out_rows(std::span<const ReferenceRow> rows, const Gpu& gpu) {
  const Gpu timed = with_launch_cost(gpu, reference_launch_s());
  std::vector<Row> out;
  for (const ReferenceRow& row : rows) {
    if (!row.fitted) out.push_back(compare_case(row.measured, timed));
  }
  return out;
}

double fit_table_launch_s(std::span<const TableOfGpu> tables) {
  Gpu moved;
  const Moving launch{&Sustained::stream_launch_s, reference_launch_s(), 1e-6, 1e-4};
  fit_bounded(std::span(&launch, 1), moved, [&](const Gpu& tried) {
    double sum = 0;
    for (const TableOfGpu& table : tables) {
      const Gpu timed = with_launch_cost(table.gpu, *tried.sustained.stream_launch_s);
      for (const ReferenceRow& row : table.rows) {
        if (row.fitted) sum += std::abs(log_error(row, timed));
      }
    }
    return sum;
  });
  return *moved.sustained.stream_launch_s;
}

}  // namespace roofcast::validation
