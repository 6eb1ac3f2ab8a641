#include "validation/profiles/ncu.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <unordered_map>

#include "hw_specs/loader.hpp"
#include "validation/profiles/ncu_table.hpp"

namespace roofcast::validation {
namespace {

constexpr double kSectorBytes = 32;

/// The three numbers of "(128, 1, 1)" or "128 1 1"; 1 for missing ones.
std::array<std::int64_t, 3> triple(std::string_view text) {
  std::array<std::int64_t, 3> found{1, 1, 1};
  std::size_t place = 0;
  bool inside = false;
  constexpr std::int64_t kMost = 1'000'000'000'000;
  for (const char c : text) {
    if (c >= '0' && c <= '9') {
      if (!inside && place >= found.size()) break;
      std::int64_t& value = found[inside ? place - 1 : place++];
      value = inside ? std::min(kMost, value * 10 + (c - '0')) : c - '0';
      inside = true;
    } else {
      inside = false;
    }
  }
  return found;
}

/// The metrics of one kernel as numbers.
class Read {
 public:
  Read(const NcuKernel& kernel, const NcuTable& table, char decimal)
      : flops_(table.flops().size()) {
    for (const NcuValue& value : kernel.values) {
      const auto number = number_with(value.view(), decimal);
      if (!number || *number < 0) continue;  // "n/a"
      const NcuMeaning& meaning = table.meanings()[value.meaning];
      (meaning.metric < kMetrics ? named_[meaning.metric] : flops_[meaning.metric - kMetrics]) =
          *number * meaning.scale;
    }
  }
  std::optional<double> operator[](Metric metric) const {
    return named_[static_cast<std::size_t>(metric)];
  }
  std::int64_t whole(Metric metric, std::int64_t fallback) const {
    constexpr double kMost = 1e12;
    const auto value = (*this)[metric];
    return value ? static_cast<std::int64_t>(std::min(*value, kMost)) : fallback;
  }
  std::optional<double> flops(std::size_t place) const { return flops_[place]; }

 private:
  std::array<std::optional<double>, kMetrics> named_{};
  std::vector<std::optional<double>> flops_;
};

Launch launch_of(const NcuKernel& kernel, const Read& read) {
  Launch launch;
  launch.grid = triple(kernel.grid);
  launch.block = triple(kernel.block);
  if (kernel.grid.empty()) {
    launch.grid = {read.whole(Metric::grid_x, read.whole(Metric::blocks, 1)),
                   read.whole(Metric::grid_y, 1), read.whole(Metric::grid_z, 1)};
  }
  if (kernel.block.empty()) {
    launch.block = {read.whole(Metric::block_x, read.whole(Metric::threads, 1)),
                    read.whole(Metric::block_y, 1), read.whole(Metric::block_z, 1)};
  }
  launch.registers = read.whole(Metric::registers, 0);
  // The total includes the driver's reserve, which the occupancy rules add themselves.
  const bool parts = read[Metric::static_shared_bytes] || read[Metric::dynamic_shared_bytes];
  launch.shared_bytes = parts ? read.whole(Metric::static_shared_bytes, 0) +
                                    read.whole(Metric::dynamic_shared_bytes, 0)
                              : read.whole(Metric::shared_bytes, 0);
  return launch;
}

std::optional<double> times(std::optional<double> rate, double time_s) {
  return rate ? std::optional(*rate * time_s) : std::nullopt;
}

/// For each kind of operation the positions of its metrics: counts first, then rates.
using Counters = std::vector<std::vector<std::size_t>>;

Counters counters_of(const std::vector<FlopsMetric>& flops) {
  std::map<std::string_view, std::vector<std::size_t>> found;
  for (const bool rates : {false, true}) {
    for (std::size_t i = 0; i < flops.size(); ++i) {
      if (flops[i].per_cycle == rates) found[flops[i].counter].push_back(i);
    }
  }
  Counters counters;
  for (auto& [name, places] : found) counters.push_back(std::move(places));
  return counters;
}

struct Counted {
  const FlopsMetric* metric;
  double flops;
};

/// The FLOPs by the first of these metrics that has a value.
std::optional<Counted> counted(const Read& read, const std::vector<FlopsMetric>& flops,
                               const std::vector<std::size_t>& places, double cycles) {
  for (const std::size_t place : places) {
    const FlopsMetric& one = flops[place];
    const auto count = read.flops(place);
    if (!count || (one.per_cycle && cycles <= 0)) continue;
    return Counted{&one, *count * one.flops * (one.per_cycle ? cycles : 1)};
  }
  return std::nullopt;
}

CountedWork work_of(const Read& read, const std::vector<FlopsMetric>& flops,
                    const Counters& counters, double time_s) {
  CountedWork work;
  const auto either = [&](Metric bytes, Metric rate) {
    return read[bytes] ? read[bytes] : times(read[rate], time_s);
  };
  work.dram_read_bytes = either(Metric::dram_read_bytes, Metric::dram_read_rate);
  work.dram_write_bytes = either(Metric::dram_write_bytes, Metric::dram_write_rate);
  if (!work.dram_read_bytes && !work.dram_write_bytes) {
    work.dram_read_bytes = either(Metric::dram_bytes, Metric::dram_rate);
  }
  work.l2_read_bytes = times(read[Metric::l2_read_sectors], kSectorBytes);
  work.l2_write_bytes = times(read[Metric::l2_write_sectors], kSectorBytes);
  work.sm_clock_hz = read[Metric::sm_clock];
  work.tensor_busy = read[Metric::tensor_busy];
  work.dram_busy = read[Metric::dram_busy];
  work.warp_instructions = read[Metric::warp_instructions];
  FlopsByType vector;
  const double cycles = times(work.sm_clock_hz, time_s).value_or(0);
  for (const auto& places : counters) {
    const auto found = counted(read, flops, places, cycles);
    if (!found) continue;
    const DType type = found->metric->type;
    if (found->metric->tensor) {
      work.has_tensor_flops = true;
      work.tensor_flops[type] += found->flops;
    } else {
      vector[type] += found->flops;
      work.vector_flops = vector.total();
      if (vector[type] > vector[work.vector_type]) work.vector_type = type;
    }
  }
  return work;
}

std::optional<double> sum(std::optional<double> a, std::optional<double> b) {
  return a && b ? std::optional(*a + *b) : a ? a : b;
}

constexpr std::array kMeans = {
    &CountedWork::dram_read_bytes, &CountedWork::dram_write_bytes, &CountedWork::l2_read_bytes,
    &CountedWork::l2_write_bytes,  &CountedWork::vector_flops,     &CountedWork::sm_clock_hz,
    &CountedWork::tensor_busy,     &CountedWork::dram_busy,        &CountedWork::warp_instructions};

/// Adds up the calls; `divide` then makes the mean.
void add(CountedWork& to, const CountedWork& one) {
  for (const auto member : kMeans) to.*member = sum(to.*member, one.*member);
  to.vector_type = one.vector_type;
  to.tensor_flops += one.tensor_flops;
  to.has_tensor_flops = to.has_tensor_flops || one.has_tensor_flops;
}

void divide(CountedWork& work, double calls) {
  for (const auto member : kMeans) {
    if (work.*member) *(work.*member) /= calls;
  }
  work.tensor_flops = 1 / calls * work.tensor_flops;
}

// The kernels of the chosen device. Throws SpecError for several devices if none is chosen, and if
// there are no kernels.
std::vector<const NcuKernel*> kernels_of(const NcuTable& table, const std::string& file,
                                         std::optional<int> device) {
  std::set<std::string_view> devices;
  std::vector<const NcuKernel*> kept;
  for (const NcuKernel& kernel : table.kernels()) {
    devices.insert(kernel.device);
    if (!device || kernel.device == std::to_string(*device)) kept.push_back(&kernel);
  }
  const std::string names = listed(devices, [](std::string_view one) { return one; });
  if (!device && devices.size() > 1) {
    throw specs::SpecError(file, "", "kernels of one device, not of " + names,
                           "choose one with --device");
  }
  if (!kept.empty()) return kept;
  throw specs::SpecError(
      file, "", device ? "kernels of device " + std::to_string(*device) : "a row for each kernel",
      device ? "the table has those of " + names : "profile a program that launches kernels");
}

}  // namespace

Trace read_ncu(std::vector<NcuText> texts, std::optional<int> device) {
  NcuTable table;
  for (NcuText& one : texts) table.read(one.file, one.text);
  const std::string& file = texts.front().file;
  const auto decimal = table.style().decimal();
  if (!decimal) {
    throw specs::SpecError(file, "", "numbers of one language, not 1,234.5 and 1.234,5 together",
                           "export the tables with the same locale (LC_ALL=C)");
  }
  Trace trace;
  trace.counted = true;
  trace.ignored_lines = table.ignored_lines();
  std::unordered_map<std::string, std::size_t> places;
  const Counters counters = counters_of(table.flops());
  for (const NcuKernel* kernel : kernels_of(table, file, device)) {
    const Read read(*kernel, table, *decimal);
    const auto time_s = read[Metric::time];
    if (!time_s || *time_s <= 0) {
      throw specs::SpecError(file, "/line " + std::to_string(kernel->line),
                             "a time of kernel " + std::string(kernel->id),
                             "collect gpu__time_duration.sum (--set basic has it)");
    }
    std::string key(kernel->name);
    key.append("\n").append(kernel->grid).append("\n").append(kernel->block);
    const auto [place, is_new] = places.emplace(std::move(key), trace.calls.size());
    if (is_new) {
      TracedCall call;
      call.name = kernel->name;
      call.kernels.push_back({std::string(kernel->name)});
      call.kernels.front().launch = launch_of(*kernel, read);
      call.kernels.front().said_waves = read[Metric::waves];
      call.kernels.front().achieved_occupancy = read[Metric::achieved_occupancy];
      trace.calls.push_back(std::move(call));
    }
    TracedCall& call = trace.calls[place->second];
    ProfiledKernel& one = call.kernels.front();
    add(one.counted, work_of(read, table.flops(), counters, *time_s));
    ++one.calls;
    ++call.count;
    ++trace.kernels;
    trace.sequence.push_back({place->second, trace.busy_s, *time_s});
    one.time_s += *time_s;
    call.kernels_s += *time_s;
    trace.busy_s += *time_s;
    if (trace.device.empty()) trace.device = kernel->device_name;
    if (trace.compute_capability.empty()) trace.compute_capability = kernel->capability;
  }
  for (TracedCall& call : trace.calls) {
    divide(call.kernels.front().counted, static_cast<double>(call.count));
  }
  trace.span_s = trace.busy_s;
  return trace;
}

}  // namespace roofcast::validation
