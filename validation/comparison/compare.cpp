#include "validation/comparison/compare.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>

#include "model/counting/coalescing.hpp"
#include "model/predict.hpp"
#include "validation/runs/problem_text.hpp"

namespace roofcast::validation {
namespace {

constexpr std::size_t kWorstRows = 10;

double mean(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return values.empty() ? 0 : sum / static_cast<double>(values.size());
}

std::optional<double> mean_absolute(const std::vector<const Row*>& rows,
                                    std::optional<Pair> Row::*pair) {
  std::vector<double> errors;
  for (const Row* row : rows) {
    if (row->*pair) errors.push_back(std::abs((row->*pair)->error()));
  }
  return errors.empty() ? std::nullopt : std::optional(mean(errors));
}

Summary summary_of(const std::string& group, const std::vector<const Row*>& rows) {
  Summary out;
  out.group = group;
  out.cases = rows.size();
  if (rows.empty()) return out;
  Timing errors;  // for its percentiles
  std::size_t covered = 0;
  for (const Row* row : rows) {
    const double error = row->time_s.error();
    errors.samples_s.push_back(std::abs(error));
    if (std::abs(error) > std::abs(out.worst_error)) out.worst_error = error;
    covered += row->predicted_low_s <= row->time_s.measured &&
               row->time_s.measured <= row->predicted_high_s;
  }
  out.mean_absolute_error = mean(errors.samples_s);
  out.median_absolute_error = errors.median_s();
  out.coverage = static_cast<double>(covered) / static_cast<double>(rows.size());
  out.dram_error = mean_absolute(rows, &Row::dram_bytes);
  out.l2_error = mean_absolute(rows, &Row::l2_bytes);
  out.cycles_error = mean_absolute(rows, &Row::sm_cycles);
  return out;
}

/// Groups in the order in which they first appear.
std::vector<Summary> group_by(const std::vector<Row>& rows,
                              const std::function<std::string(const Row&)>& key) {
  std::vector<std::string> order;
  std::map<std::string, std::vector<const Row*>> groups;
  for (const Row& row : rows) {
    auto& group = groups[key(row)];
    if (group.empty()) order.push_back(key(row));
    group.push_back(&row);
  }
  std::vector<Summary> out;
  for (const std::string& name : order) out.push_back(summary_of(name, groups[name]));
  return out;
}

std::optional<Pair> pair_of(double predicted, std::optional<double> measured) {
  // A count of 0 has no relative error.
  if (!measured || *measured <= 0) return std::nullopt;
  return Pair{predicted, *measured};
}

std::optional<double> sum(std::optional<double> a, std::optional<double> b) {
  return a && b ? std::optional(*a + *b) : std::nullopt;
}

/// Compares the counters, which are of one cold launch, with the forecast of a cold launch.
void compare_counters(Row& row, const Case& measured, const Prediction& cold) {
  const Counters& counters = measured.counters;
  row.dram_bytes = pair_of(cold.work.dram.total_bytes(),
                           sum(counters.dram_read_bytes, counters.dram_write_bytes));
  row.l2_bytes =
      pair_of(cold.work.l2.total_bytes(), sum(counters.l2_read_bytes, counters.l2_write_bytes));
  const Work& work = cold.work;
  row.dram_read_bytes = pair_of(work.dram.read_bytes, counters.dram_read_bytes);
  row.dram_write_bytes = pair_of(work.dram.write_bytes, counters.dram_write_bytes);
  const auto sectors = [](double bytes, std::optional<double> counted, double counted_bytes) {
    if (counted) *counted /= counted_bytes;
    return pair_of(bytes / kSectorBytes, counted);
  };
  row.l2_read_sectors = sectors(work.l2.read_bytes, counters.l2_read_bytes, kSectorBytes);
  row.l2_write_sectors = sectors(work.l2.write_bytes, counters.l2_write_bytes, kSectorBytes);
  row.l1_load_sectors = sectors(work.l1.read_bytes, counters.l1_load_sectors, 1);
  row.l1_store_sectors = sectors(work.l1.write_bytes, counters.l1_store_sectors, 1);
  row.shared_wavefronts =
      pair_of(work.shared_bytes / kLineBytes,
              sum(counters.shared_load_wavefronts, counters.shared_store_wavefronts));
  if (cold.time) row.active_cycles = pair_of(cold.time->sm_cycles, counters.sm_cycles);
  row.flops = pair_of(cold.work.vector_flops, counters.flops);
  // CUDA's occupancy query ignores clusters and was made for the first launch only.
  if (measured.blocks_per_sm && cold.occupancy && cold.shown_launch == 0 &&
      cold.occupancy->limited_by != OccupancyLimiter::clusters) {
    row.blocks_per_sm = pair_of(static_cast<double>(cold.occupancy->blocks_per_sm),
                                static_cast<double>(*measured.blocks_per_sm));
  }
}

}  // namespace

Row compare_case(const Case& measured, const Gpu& gpu, std::optional<LaunchMode> launch) {
  const KernelRef kernel = find_kernel(measured.kernel);
  const Prediction prediction =
      predict(kernel, measured.problem, gpu, {measured.cache, {}, kQueueNeverEmpty, launch});
  if (!prediction.time) throw InputError(measured.kernel + " has no forecast on " + gpu.name);

  Row row;
  row.gpu = gpu.name;
  row.kernel = measured.kernel;
  row.family = family_of(measured.kernel);
  row.problem = measured.problem;
  row.problem_text = problem_text(measured.kernel, measured.problem);
  row.cache = measured.cache;
  row.bound = binding(prediction.time->terms);
  row.time_s = {prediction.time->expected_s, measured.timing.median_s()};
  row.regime = regime_of(row.time_s.measured, prediction.time->terms);
  row.measured_fastest_s = measured.timing.percentile_s(0);
  row.measured_low_s = measured.timing.percentile_s(0.1);
  row.measured_high_s = measured.timing.percentile_s(0.9);
  row.predicted_low_s = prediction.time->low_s;
  row.predicted_high_s = prediction.time->high_s;
  row.limit_s = prediction.limit.time_s;
  row.work_flops = prediction.work.flops();
  row.work_dram_bytes = prediction.work.dram.total_bytes();
  row.compulsory_bytes = prediction.work.compulsory.total_bytes();
  if (measured.sm_clock_hz) {
    const Prediction clocked =
        predict(kernel, measured.problem, gpu,
                {measured.cache, measured.sm_clock_hz, kQueueNeverEmpty, launch});
    row.sm_cycles = pair_of(clocked.time->expected_s * *measured.sm_clock_hz,
                            row.time_s.measured * *measured.sm_clock_hz);
  }
  compare_counters(
      row, measured,
      predict(kernel, measured.problem, gpu, {CacheState::cold, measured.sm_clock_hz}));
  if (!measured.baseline.empty()) {
    row.baseline = measured.baseline;
    row.baseline_s = measured.baseline_timing.median_s();
  }
  return row;
}

Comparison summarize(std::vector<Row> rows) {
  Comparison out;
  out.rows = std::move(rows);
  std::vector<const Row*> all, large;
  for (std::size_t i = 0; i < out.rows.size(); ++i) {
    const Row& row = out.rows[i];
    all.push_back(&row);
    if (row.dram_bytes && row.compulsory_bytes > kLargeBytes) large.push_back(&row);
    out.worst.push_back(i);
    if (row.measured_fastest_s < row.limit_s) out.bound_violations.push_back(i);
  }
  out.overall = summary_of("all", all);
  if (!large.empty()) {
    out.large = summary_of(fmt::format("over {:g} MB", kLargeBytes / 1e6), large);
  }
  out.by_family = group_by(out.rows, [](const Row& row) { return row.family; });
  out.by_regime = group_by(out.rows, [](const Row& row) { return std::string(name(row.regime)); });
  out.by_family_and_regime = group_by(
      out.rows, [](const Row& row) { return fmt::format("{}/{}", row.family, name(row.regime)); });
  out.by_gpu = group_by(out.rows, [](const Row& row) { return row.gpu; });
  std::stable_sort(out.worst.begin(), out.worst.end(), [&](std::size_t a, std::size_t b) {
    return std::abs(out.rows[a].time_s.error()) > std::abs(out.rows[b].time_s.error());
  });
  if (out.worst.size() > kWorstRows) out.worst.resize(kWorstRows);
  return out;
}

Comparison compare(const Run& run, const Gpu& gpu, std::optional<LaunchMode> launch) {
  std::vector<Row> rows;
  std::vector<Failure> failures = run.failures;
  for (const Case& item : run.cases) {
    try {
      rows.push_back(compare_case(item, gpu, launch));
    } catch (const InputError& error) {
      failures.push_back({item.kernel, item.problem, fmt::format("no forecast: {}", error.what())});
    }
  }
  Comparison out = summarize(std::move(rows));
  out.gpu = gpu.name;
  out.device = run.device.device;
  out.date = run.date;
  out.suite = suite_text(run);
  out.failures = std::move(failures);
  out.missing = missing_cases(run);
  return out;
}

}  // namespace roofcast::validation
