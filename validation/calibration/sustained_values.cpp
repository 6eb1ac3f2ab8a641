#include "validation/calibration/sustained_values.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "validation/calibration/curve_limits.hpp"

namespace roofcast::validation {
namespace {

using Value = std::optional<double>;

constexpr double kMiB = 1024.0 * 1024.0;
constexpr double kGiB = 1024.0 * kMiB;

// The rate of the largest footprint.
Value dram_read(const Measurements& m) {
  const Curve* curve = m.find("bandwidth", "DRAM read");
  if (curve == nullptr || curve->points.empty()) return std::nullopt;
  return curve->points.back().value;
}

// Median rate over the footprints up to a quarter of the largest.
Value l2_plateau(const Measurements& m) {
  const Curve* curve = m.find("bandwidth", "L2 read, own data");
  if (curve == nullptr || curve->points.empty()) return std::nullopt;
  std::vector<double> rates;
  for (const CurvePoint& point : curve->points) {
    if (4 * point.x <= curve->points.back().x) rates.push_back(point.value);
  }
  if (rates.empty()) return std::nullopt;
  std::nth_element(rates.begin(), rates.begin() + static_cast<std::ptrdiff_t>(rates.size() / 2),
                   rates.end());
  return rates[rates.size() / 2];
}

Value difference(Value a, Value b) {
  return a && b ? std::optional(*a - *b) : std::nullopt;
}

Value seconds(const Measurements& m, Value cycles) {
  const Value clock = m.at("clock", "streaming from DRAM");
  return cycles && clock ? std::optional(*cycles / *clock) : std::nullopt;
}

// Time of a reading kernel from a cold L2, less that of an empty kernel and the DRAM latency.
Value first_access(const Measurements& m) {
  const Value reads = difference(m.at("first_and_last", "reads, cold, at 0 B"),
                                 m.at("first_and_last", "nothing, cold, at 0 B"));
  return difference(reads, seconds(m, m.at("latency", "global", kGiB)));
}

// The line through the cycles to start a block over its warps.
std::optional<Line> block_start_line(const Measurements& m) {
  const Curve* curve = m.find("block_start", "block");
  if (curve == nullptr || curve->points.size() < 2) return std::nullopt;
  return line_through(curve->points);
}
Value block_start(const Measurements& m) {
  const auto line = block_start_line(m);
  return line ? std::optional(line->at_zero) : std::nullopt;
}
Value warp_start(const Measurements& m) {
  const auto line = block_start_line(m);
  return line ? std::optional(line->slope) : std::nullopt;
}

Value tags(const Measurements& m) {
  const Value cycles = m.at("on_chip", "load, lanes in different banks", 32);
  return cycles ? std::optional(32 / *cycles) : std::nullopt;
}

Value slowest_clock(const Measurements& m) {
  const Value a = m.at("clock", "streaming from DRAM"), b = m.at("clock", "fp32 multiply-adds");
  return a && b ? std::optional(std::min(*a, *b)) : (a ? a : b);
}

Peak lanes(const Gpu& /*gpu*/) {
  return {32, "the lanes of a warp"};
}
Peak launch_time(const Gpu& /*gpu*/) {
  return {1e-3, "what any launch takes"};
}
Peak wait_cycles(const Gpu& /*gpu*/) {
  return {1e5, "what any wait takes"};
}
Peak special_peak(const Gpu& gpu) {
  return pipe_peak(gpu.sm.special_per_clk);
}
Peak conversion_peak(const Gpu& gpu) {
  return pipe_peak(gpu.sm.conversion_per_clk);
}
template <DType kType>
Peak flop_peak(const Gpu& gpu) {
  return pipe_peak(gpu.sm.vector_flop_per_clk[kType]);
}

// Where a value comes from: a series at x, or what a function makes of the curves.
struct Reading {
  constexpr Reading(const char* series, double x = 0, double times = 1)
      : series(series), x(x), times(times) {}
  constexpr Reading(Value (*derive)(const Measurements&)) : derive(derive) {}

  const char* series = "";
  double x = 0;
  double times = 1;
  Value (*derive)(const Measurements&) = nullptr;
};

struct Rule {
  std::string_view key;
  std::string_view microbenchmark;
  Reading reading;
  Peak (*peak)(const Gpu&);
  std::string_view note = "";
};

constexpr std::array kRules = {
    Rule{"dram_read_bytes_per_s", "bandwidth", dram_read, dram_peak},
    Rule{"dram_write_bytes_per_s", "bandwidth", "DRAM write", dram_peak, "writes alone"},
    Rule{"dram_scattered_bytes_per_s",
         "scattered",
         {"DRAM, 1 GiB table", 64},
         dram_peak,
         "pieces of 64 B of a table of 1 GiB"},
    Rule{"l2_bandwidth_bytes_per_s", "bandwidth", l2_plateau, l2_peak, "reads"},
    Rule{"fma_latency_cycles", "latency", "fma", wait_cycles},
    Rule{"shared_latency_cycles", "latency", "shared", wait_cycles},
    Rule{"l1_latency_cycles", "latency", {"global", 16 * 1024}, wait_cycles, "16 KiB"},
    Rule{"l2_latency_cycles", "latency", {"global", 8 * kMiB}, wait_cycles, "8 MiB"},
    Rule{"dram_latency_cycles",
         "latency",
         {"global", kGiB},
         wait_cycles,
         "1 GiB at random: translations that miss are in it"},
    Rule{"sm_clock_hz", "clock", slowest_clock, clock_peak,
         "the lower of streaming and of fp32 multiply-adds"},
    Rule{"stream_launch_s", "launch", "alone between two events", launch_time},
    Rule{"graph_launch_s", "launch", "each of many, in a graph", launch_time},
    Rule{"launch_gap_s", "launch", "each of many, queued", launch_time},
    Rule{"host_submit_s", "launch", "host, device busy", launch_time},
    Rule{"first_access_s", "first_and_last", first_access, launch_time,
         "small kernels from a cold L2, less an empty one and the latency of DRAM"},
    Rule{"warp_launch_cycles", "block_start", warp_start, wait_cycles},
    Rule{"block_launch_cycles", "block_start", block_start, wait_cycles, "beyond its warps"},
    Rule{"barrier_cycles", "barrier", {"__syncthreads", 8}, wait_cycles, "eight warps"},
    Rule{"l1_tags_per_clk", "on_chip", tags, lanes, "32 lines a request, lanes in different banks"},
    Rule{"special_per_clk", "pipes", "exp2", special_peak, "exp2"},
    Rule{"conversion_per_clk", "pipes", "fp32 to fp16 pair", conversion_peak,
         "fp32 to a pair of fp16, counted once"},
    Rule{"vector_flop_per_clk/fp64", "pipes", {"fp64 fma", 0, 2}, flop_peak<DType::fp64>},
    Rule{"vector_flop_per_clk/fp32", "pipes", {"fp32 fma", 0, 2}, flop_peak<DType::fp32>},
    Rule{"vector_flop_per_clk/fp16", "pipes", {"fp16 fma", 0, 2}, flop_peak<DType::fp16>},
    Rule{"vector_flop_per_clk/bf16", "pipes", {"bf16 fma", 0, 2}, flop_peak<DType::bf16>}};

Value measured(const Rule& rule, const Measurements& m) {
  const Reading& from = rule.reading;
  if (from.derive != nullptr) return from.derive(m);
  const Value found = m.at(rule.microbenchmark, from.series, from.x);
  return found ? std::optional(from.times * *found) : std::nullopt;
}

std::optional<std::string> objection(double value, const Peak& peak) {
  if (!std::isfinite(value) || value <= 0) return "a positive value was expected";
  if (!peak.is_exceeded_by(value)) return std::nullopt;
  return fmt::format("more than {}, {:.6g}", peak.what, *peak.value);
}

std::string clocks_note(const Measurements& m) {
  std::string note = "roofcast calibrate";
  const auto add = [&note](const char* format, const Value& value, double unit) {
    if (value) note += fmt::format(fmt::runtime(format), *value / unit);
  };
  constexpr double kMHz = 1e6;
  add(", SM clock {:.0f} MHz streaming", m.at("clock", "streaming from DRAM"), kMHz);
  add(" and {:.0f} MHz in fp32", m.at("clock", "fp32 multiply-adds"), kMHz);
  add(", memory clock {:.0f} MHz", m.device.memory_clock_hz, kMHz);
  add(", power limit {:.0f} W", m.device.power_limit_w, 1);
  return note;
}

// Latency must rise from L1 to L2 to DRAM.
void refuse_wrong_order(Calibration& out) {
  constexpr std::array<std::string_view, 3> kNearestFirst = {
      "l1_latency_cycles", "l2_latency_cycles", "dram_latency_cycles"};
  auto& values = out.overlay.values;
  double nearer = 0;
  for (const std::string_view key : kNearestFirst) {
    const auto found = std::find_if(values.begin(), values.end(),
                                    [key](const OverlayValue& one) { return one.key == key; });
    if (found == values.end()) continue;
    if (found->value <= nearer) {
      out.refused.push_back(
          {found->key, found->value, "no more than that of the memory before it"});
      values.erase(found);
    } else {
      nearer = found->value;
    }
  }
}

}  // namespace

Calibration to_calibration(const Measurements& measurements, const std::string& curves_file,
                           const Gpu& gpu) {
  Calibration out;
  out.overlay.gpu = gpu.name;
  const DeviceRecord& device = measurements.device;
  out.overlay.provenance = {curves_file,   measurements.date,   device.device,
                            device.driver, device.cuda_runtime, clocks_note(measurements)};
  constexpr std::size_t kDay = 10;  // YYYY-MM-DD
  for (const Rule& rule : kRules) {
    const Value value = measured(rule, measurements);
    if (!value) continue;
    const Peak peak = rule.peak(gpu);
    if (const auto reason = objection(*value, peak)) {
      out.refused.push_back({std::string(rule.key), *value, *reason});
      continue;
    }
    const std::string key = fmt::format("{}{}", kMicrobenchmark, rule.microbenchmark);
    const auto& sources = out.overlay.sources;
    if (std::none_of(sources.begin(), sources.end(),
                     [&](const OverlaySource& one) { return one.key == key; })) {
      out.overlay.sources.push_back(
          {key, fmt::format("microbenchmark {} of {}", rule.microbenchmark, curves_file),
           measurements.date.substr(0, kDay)});
    }
    out.overlay.values.push_back({std::string(rule.key),
                                  std::min(*value, peak.value.value_or(*value)), key,
                                  std::string(rule.note)});
  }
  refuse_wrong_order(out);
  return out;
}

}  // namespace roofcast::validation
