#include "validation/calibration/sustained_values.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <optional>

#include "model/laws/peaks.hpp"
#include "validation/calibration/curve_limits.hpp"

namespace roofcast::validation {
namespace {

using Value = std::optional<double>;

constexpr double kMiB = 1024.0 * 1024.0;
constexpr double kGiB = 1024.0 * kMiB;

Value last(const Measurements& m, std::string_view microbenchmark, std::string_view series) {
  const Curve* curve = m.find(microbenchmark, series);
  if (curve == nullptr || curve->points.empty()) return std::nullopt;
  return curve->points.back().value;
}

Value dram_read(const Measurements& m) {
  return last(m, "bandwidth", "DRAM read");
}

// Median rate over the footprints up to a quarter of the largest.
Value plateau(const Measurements& m, std::string_view series) {
  const Curve* curve = m.find("bandwidth", series);
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

// Least-squares line through the cycles to start a block: at_zero + slope · warps of the block.
struct Line {
  double at_zero;
  double slope;
};
std::optional<Line> block_start_line(const Measurements& m) {
  const Curve* curve = m.find("block_start", "block");
  if (curve == nullptr || curve->points.size() < 2) return std::nullopt;
  double n = 0, x = 0, y = 0, xx = 0, xy = 0;
  for (const CurvePoint& point : curve->points) {
    n += 1, x += point.x, y += point.value, xx += point.x * point.x, xy += point.x * point.value;
  }
  const double slope = (n * xy - x * y) / (n * xx - x * x);
  return Line{(y - slope * x) / n, slope};
}

Value tags(const Measurements& m) {
  const Value cycles = m.at("on_chip", "load, lanes in different banks", 32);
  return cycles ? std::optional(32 / *cycles) : std::nullopt;
}

Value slower(Value a, Value b) {
  return a && b ? std::optional(std::min(*a, *b)) : (a ? a : b);
}

Value flops(const Measurements& m, std::string_view series) {
  const Value results = m.at("pipes", series);
  return results ? std::optional(2 * *results) : std::nullopt;
}

// Upper bound of a value, and what sets it.
struct Most {
  Value value;
  std::string_view what;
};

struct Rule {
  std::string_view key;
  std::string_view source;  // the microbenchmark
  Value (*measure)(const Measurements&, const Gpu&);
  Most (*most)(const Gpu&);
  std::string_view note;
};

constexpr double kLongestLaunch_s = 1e-3;
constexpr double kLongestWait_cycles = 1e5;

Most dram_peak(const Gpu& gpu) {
  return {gpu.memory.dram_bandwidth_bytes_per_s, "the datasheet's DRAM bandwidth"};
}
Most l2_peak(const Gpu& gpu) {
  if (!gpu.clocks.max_hz) return {};
  return {l2_peak_bytes_per_s(gpu, *gpu.clocks.max_hz), "L2 bytes per clk × highest clock"};
}
Most clock_peak(const Gpu& gpu) {
  return {gpu.clocks.max_hz, "the highest clock"};
}
Most lanes(const Gpu& /*gpu*/) {
  return {32, "the lanes of a warp"};
}
Most launch_time(const Gpu& /*gpu*/) {
  return {kLongestLaunch_s, "what any launch takes"};
}
Most wait_cycles(const Gpu& /*gpu*/) {
  return {kLongestWait_cycles, "what any wait takes"};
}
Most special_peak(const Gpu& gpu) {
  return {gpu.sm.special_per_clk, "the datasheet's rate"};
}
Most conversion_peak(const Gpu& gpu) {
  return {gpu.sm.conversion_per_clk, "the datasheet's rate"};
}
template <DType kType>
Most flop_peak(const Gpu& gpu) {
  return {gpu.sm.vector_flop_per_clk[kType], "the datasheet's rate"};
}

using M = const Measurements&;
using G = const Gpu&;
constexpr std::array kRules = {
    Rule{"dram_read_bytes_per_s", "bandwidth", [](M m, G) { return dram_read(m); }, dram_peak, ""},
    Rule{"dram_write_bytes_per_s", "bandwidth",
         [](M m, G) { return m.at("bandwidth", "DRAM write"); }, dram_peak, "writes alone"},
    Rule{"dram_scattered_bytes_per_s", "scattered",
         [](M m, G) { return m.at("scattered", "DRAM, 1 GiB table", 64); }, dram_peak,
         "pieces of 64 B of a table of 1 GiB"},
    Rule{"l2_bandwidth_bytes_per_s", "bandwidth",
         [](M m, G) { return plateau(m, "L2 read, own data"); }, l2_peak, "reads"},
    Rule{"fma_latency_cycles", "latency", [](M m, G) { return m.at("latency", "fma"); },
         wait_cycles, ""},
    Rule{"shared_latency_cycles", "latency", [](M m, G) { return m.at("latency", "shared"); },
         wait_cycles, ""},
    Rule{"l1_latency_cycles", "latency",
         [](M m, G) { return m.at("latency", "global", 16 * 1024); }, wait_cycles, "16 KiB"},
    Rule{"l2_latency_cycles", "latency", [](M m, G) { return m.at("latency", "global", 8 * kMiB); },
         wait_cycles, "8 MiB"},
    Rule{"dram_latency_cycles", "latency", [](M m, G) { return m.at("latency", "global", kGiB); },
         wait_cycles, "1 GiB at random: translations that miss are in it"},
    Rule{"sm_clock_hz", "clock",
         [](M m, G) {
           return slower(m.at("clock", "streaming from DRAM"), m.at("clock", "fp32 multiply-adds"));
         },
         clock_peak, "the lower of streaming and of fp32 multiply-adds"},
    Rule{"stream_launch_s", "launch",
         [](M m, G) { return m.at("launch", "alone between two events"); }, launch_time, ""},
    Rule{"graph_launch_s", "launch",
         [](M m, G) { return m.at("launch", "each of many, in a graph"); }, launch_time, ""},
    Rule{"launch_gap_s", "launch", [](M m, G) { return m.at("launch", "each of many, queued"); },
         launch_time, ""},
    Rule{"host_submit_s", "launch", [](M m, G) { return m.at("launch", "host, device busy"); },
         launch_time, ""},
    Rule{"first_access_s", "first_and_last", [](M m, G) { return first_access(m); }, launch_time,
         "small kernels from a cold L2, less an empty one and the latency of DRAM"},
    Rule{"warp_launch_cycles", "block_start",
         [](M m, G) {
           const auto line = block_start_line(m);
           return line ? Value(line->slope) : std::nullopt;
         },
         wait_cycles, ""},
    Rule{"block_launch_cycles", "block_start",
         [](M m, G) {
           const auto line = block_start_line(m);
           return line ? Value(line->at_zero) : std::nullopt;
         },
         wait_cycles, "beyond its warps"},
    Rule{"barrier_cycles", "barrier", [](M m, G) { return m.at("barrier", "__syncthreads", 8); },
         wait_cycles, "eight warps"},
    Rule{"l1_tags_per_clk", "on_chip", [](M m, G) { return tags(m); }, lanes,
         "32 lines a request, lanes in different banks"},
    Rule{"special_per_clk", "pipes", [](M m, G) { return m.at("pipes", "exp2"); }, special_peak,
         "exp2"},
    Rule{"conversion_per_clk", "pipes", [](M m, G) { return m.at("pipes", "fp32 to fp16 pair"); },
         conversion_peak, "fp32 to a pair of fp16, counted once"},
    Rule{"vector_flop_per_clk/fp64", "pipes", [](M m, G) { return flops(m, "fp64 fma"); },
         flop_peak<DType::fp64>, ""},
    Rule{"vector_flop_per_clk/fp32", "pipes", [](M m, G) { return flops(m, "fp32 fma"); },
         flop_peak<DType::fp32>, ""},
    Rule{"vector_flop_per_clk/fp16", "pipes", [](M m, G) { return flops(m, "fp16 fma"); },
         flop_peak<DType::fp16>, ""},
    Rule{"vector_flop_per_clk/bf16", "pipes", [](M m, G) { return flops(m, "bf16 fma"); },
         flop_peak<DType::bf16>, ""}};

std::optional<std::string> objection(double value, const Most& most) {
  if (!std::isfinite(value) || value <= 0) return "a positive value was expected";
  if (most.value && value > *most.value * (1 + kPeakTolerance)) {
    return fmt::format("more than {}, {:.6g}", most.what, *most.value);
  }
  return std::nullopt;
}

std::string source_key(std::string_view microbenchmark) {
  return std::string(kMicrobenchmark) + std::string(microbenchmark);
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
    const Value value = rule.measure(measurements, gpu);
    if (!value) continue;
    const Most most = rule.most(gpu);
    if (const auto reason = objection(*value, most)) {
      out.refused.push_back({std::string(rule.key), *value, *reason});
      continue;
    }
    const std::string key = source_key(rule.source);
    const auto& sources = out.overlay.sources;
    if (std::none_of(sources.begin(), sources.end(),
                     [&](const OverlaySource& one) { return one.key == key; })) {
      out.overlay.sources.push_back(
          {key, fmt::format("microbenchmark {} of {}", rule.source, curves_file),
           measurements.date.substr(0, kDay)});
    }
    out.overlay.values.push_back({std::string(rule.key),
                                  most.value ? std::min(*value, *most.value) : *value, key,
                                  std::string(rule.note)});
  }
  refuse_wrong_order(out);
  return out;
}

}  // namespace roofcast::validation
