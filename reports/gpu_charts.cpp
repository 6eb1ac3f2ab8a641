#include "reports/gpu_charts.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "model/laws/peaks.hpp"
#include "model/types/problem.hpp"
#include "reports/chart.hpp"
#include "reports/narrow.hpp"
#include "reports/plot.hpp"
#include "reports/roofs.hpp"
#include "reports/text.hpp"

namespace roofcast::reports {
namespace {

constexpr double kPanel = 190;
constexpr double kRow = 30;
constexpr double kYears = 720;

/// What is known of a memory level, all SMs together.
struct LevelFacts {
  std::string name;
  std::optional<double> bytes{};
  std::optional<double> bytes_per_s{};
  std::optional<double> latency_s{};
};

std::optional<double> times(const std::optional<double>& a, const std::optional<double>& b) {
  return a && b ? std::optional(*a * *b) : std::nullopt;
}

std::optional<double> in_seconds(const std::optional<double>& measured,
                                 const std::optional<double>& sheet, const Gpu& gpu) {
  const auto& cycles = measured ? measured : sheet;
  const auto& clock = gpu.sustained.sm_clock_hz ? gpu.sustained.sm_clock_hz : gpu.clocks.max_hz;
  return cycles && clock ? std::optional(*cycles / *clock) : std::nullopt;
}

std::vector<LevelFacts> levels_of(const Gpu& gpu) {
  constexpr double kRegisterBytes = 4;
  std::optional<double> sms;
  if (gpu.sm_count) sms = static_cast<double>(*gpu.sm_count);
  LevelFacts registers{"Registers"};
  if (gpu.occupancy) {
    registers.bytes =
        times(sms, kRegisterBytes * static_cast<double>(gpu.occupancy->registers_per_sm));
  }
  LevelFacts l1{"L1 + shared", times(sms, gpu.memory.l1_shared_bytes)};
  l1.latency_s = in_seconds(gpu.sustained.latency.l1_cycles, gpu.latency.l1_cycles, gpu);
  LevelFacts l2{"L2", gpu.memory.l2_bytes};
  l2.latency_s = in_seconds(gpu.sustained.latency.l2_cycles, gpu.latency.l2_cycles, gpu);
  LevelFacts dram{"DRAM", gpu.memory.dram_bytes};
  dram.latency_s = in_seconds(gpu.sustained.latency.dram_cycles, gpu.latency.dram_cycles, gpu);
  for (const MemoryRoof& roof : memory_roofs(gpu)) {
    for (LevelFacts* level : {&l1, &l2, &dram}) {
      if (level->name == roof.level) level->bytes_per_s = roof.highest();
    }
  }
  return {registers, l1, l2, dram};
}

Json figure_panel(const std::string& data, const std::string& title, const std::string& unit,
                  const Json& rows, const std::vector<std::string>& names) {
  double low = HUGE_VAL, high = 0;
  for (const Json& row : rows) {
    low = std::min(low, row["value"].get<double>());
    high = std::max(high, row["value"].get<double>());
  }
  // A logarithmic axis has no zero: bars start a decade below the smallest value.
  const LogAxis axis{rows.empty() ? 1 : low / 10, rows.empty() ? 10 : high * 40, kPanel, title,
                     unit};
  const Json y = nominal_channel("name", names, {{"ticks", false}, {"domain", false}});
  Json layers = Json::array();
  layers.push_back(layer(data + " bars", data, mark("bar", "bandwidth", {{"height", 14}}),
                         {{"x", axis.channel("value")}, {"x2", {{"datum", axis.low}}}, {"y", y}}));
  layers.push_back(layer(data + " texts", data,
                         mark("text", "bar-text", {{"align", "left"}, {"dx", 5}}),
                         {{"x", axis.channel("value")}, {"y", y}, {"text", {{"field", "text"}}}}));
  return {{"width", kPanel},
          {"height", kRow * static_cast<double>(names.size())},
          {"layer", std::move(layers)}};
}

/// The device that stands for an architecture.
struct Generation {
  std::string name;
  std::int64_t year;
  double flops_per_s;
  double bytes_per_s;
};

std::vector<Generation> generations_of(const std::vector<Gpu>& gpus) {
  std::map<std::string, Generation> best;
  for (const Gpu& gpu : gpus) {
    auto peak = best_peak(gpu, DType::fp16);
    if (const auto fp32 = best_peak(gpu, DType::fp32);
        !peak || (fp32 && fp32->flops_per_s > peak->flops_per_s)) {
      peak = fp32;
    }
    if (!peak || !gpu.memory.dram_bandwidth_bytes_per_s || gpu.architecture.empty()) continue;
    const Generation one{gpu.name, gpu.year, peak->flops_per_s,
                         *gpu.memory.dram_bandwidth_bytes_per_s};
    const auto [known, first] = best.try_emplace(gpu.architecture, one);
    const bool more = one.flops_per_s > known->second.flops_per_s ||
                      (one.flops_per_s == known->second.flops_per_s &&
                       one.bytes_per_s > known->second.bytes_per_s);
    if (!first && more) known->second = one;
  }
  std::vector<Generation> sorted;
  sorted.reserve(best.size());
  for (const auto& [architecture, one] : best) sorted.push_back(one);
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto& a, const auto& b) { return a.year < b.year; });
  return sorted;
}

Json growth_row(const std::string& name, const std::string& what, double value,
                const std::string& text, bool told) {
  return {{"name", name}, {"what", what}, {"value", value}, {"text", text}, {"told", told}};
}

Json device_channel(const std::vector<std::string>& names, bool narrow) {
  if (narrow) return nominal_channel("name", names, {{"labelAngle", -60}, {"grid", false}});
  return nominal_channel(
      "name", names,
      {{"labelAngle", 0}, {"grid", false}, {"labelExpr", "split(datum.label, ' ')"}});
}

Json line_panel(const std::string& data, const LogAxis& y, const std::vector<std::string>& names,
                const std::vector<std::string>& lines, bool narrow) {
  const Json x = device_channel(names, narrow);
  Json colours = colour("what", lines, "", narrow ? 1 : 2);
  if (lines.size() < 2) colours["legend"] = nullptr;
  Json shape = {{"field", "what"},
                {"type", "nominal"},
                {"scale", {{"domain", lines}, {"range", {"circle", "square"}}}},
                {"legend", colours["legend"]}};
  if (lines.size() < 2) shape["scale"]["range"] = {"diamond"};
  const Json values = y.channel("value");
  Json layers = Json::array();
  layers.push_back(layer(data + " lines", data, mark("line", "forecast"),
                         {{"x", x}, {"y", values}, {"color", colours}}));
  layers.push_back(
      layer(data + " points", data, mark("point", "measured", {{"filled", true}, {"size", 70}}),
            {{"x", x},
             {"y", values},
             {"color", colours},
             {"shape", shape},
             {"tooltip", tooltip({{"name", "GPU"}, {"what", "Figure"}, {"text", "Value"}})}}));
  // Texts of the first line stand above its points, those of the second below.
  for (std::size_t i = 0; i < lines.size(); ++i) {
    layers.push_back(
        {{"name", data + " texts of " + lines[i]},
         {"data", {{"name", data}}},
         {"transform", {{{"filter", "datum.what == '" + lines[i] + "' && datum.told"}}}},
         {"mark", mark("text", "roof-label", {{"dy", i == 0 ? -12 : 17}})},
         {"encoding", {{"x", x}, {"y", values}, {"text", {{"field", "text"}}}}}});
  }
  return {{"width", narrow ? kNarrowFrame : kYears},
          {"height", y.pixels},
          {"layer", std::move(layers)}};
}

}  // namespace

std::string memory_hierarchy_chart(const Gpu& gpu, bool narrow) {
  struct Figure {
    const char* title;
    const char* unit;
    std::optional<double> LevelFacts::*value;
  };
  constexpr std::array kFigures = {Figure{"Size", "B", &LevelFacts::bytes},
                                   Figure{"Bandwidth", "B/s", &LevelFacts::bytes_per_s},
                                   Figure{"Latency", "s", &LevelFacts::latency_s}};
  const std::vector<LevelFacts> levels = levels_of(gpu);
  std::vector<std::string> names;
  names.reserve(levels.size());
  for (const LevelFacts& level : levels) names.push_back(level.name);
  Json data = Json::object();
  Json panels = Json::array();
  for (const Figure& figure : kFigures) {
    Json rows = Json::array();
    for (const LevelFacts& level : levels) {
      const auto& value = level.*figure.value;
      if (!value || *value <= 0) continue;
      rows.push_back({{"name", level.name}, {"value", *value}, {"text", si(*value, figure.unit)}});
    }
    panels.push_back(figure_panel(figure.title, figure.title, figure.unit, rows, names));
    data[figure.title] = std::move(rows);
  }
  Json spec =
      chart("Memory of " + (gpu.title.empty() ? gpu.name : gpu.title),
            "All SMs together; latency with nothing else under way; what is not known is left out",
            std::move(data));
  spec[narrow ? "vconcat" : "hconcat"] = std::move(panels);
  spec["spacing"] = 30;
  if (narrow) make_narrow(spec, kNarrowFrame);
  return json_text(spec);
}

std::string generations_chart(const std::vector<Gpu>& gpus, bool narrow) {
  const std::vector<Generation> generations = generations_of(gpus);
  if (generations.size() < 2) {
    throw InputError(
        "a chart of generations needs GPUs of two architectures, with their arithmetic and DRAM "
        "bandwidth");
  }
  const Generation& first = generations.front();
  const std::string arithmetic = "arithmetic (fp16, or fp32)";
  const std::string bandwidth = "DRAM bandwidth";
  std::vector<std::string> names;
  Json growth = Json::array(), ridges = Json::array();
  double most = 1, low = HUGE_VAL, high = 0;
  for (const Generation& one : generations) {
    const std::string name = one.name + " " + std::to_string(one.year);
    // A narrow chart has no room for every text: every other one is shown, counted from the last.
    const bool told = !narrow || (generations.size() - names.size()) % 2 == 1;
    names.push_back(name);
    const double flops = one.flops_per_s / first.flops_per_s;
    const double bytes = one.bytes_per_s / first.bytes_per_s;
    const double ridge = one.flops_per_s / one.bytes_per_s;
    // The first device is 1× in both lines: one text suffices.
    growth.push_back(growth_row(name, arithmetic, flops, figure_text(flops, 3) + "×", told));
    growth.push_back(growth_row(name, bandwidth, bytes,
                                &one == &first ? "" : figure_text(bytes, 3) + "×", told));
    ridges.push_back(growth_row(name, "ridge", ridge, si(ridge, "FLOP/B"), told));
    most = std::max({most, flops, bytes});
    low = std::min(low, ridge);
    high = std::max(high, ridge);
  }
  const LogAxis times{0.6, 2.5 * most, 260, "As a multiple of the " + first.name, ""};
  const LogAxis ratio{low / 2, 2.5 * high, 150, "FLOP per DRAM byte", ""};
  Json spec = chart("Arithmetic grows faster than bandwidth",
                    "Of each architecture the GPU with the most arithmetic, by its datasheet",
                    {{"growth", std::move(growth)}, {"ridges", std::move(ridges)}});
  spec["vconcat"] = {line_panel("growth", times, names, {arithmetic, bandwidth}, narrow),
                     line_panel("ridges", ratio, names, {"ridge"}, narrow)};
  if (narrow) make_narrow(spec, kNarrowFrame);
  spec["resolve"] = {{"scale", {{"color", "independent"}, {"shape", "independent"}}}};
  return json_text(spec);
}

}  // namespace roofcast::reports
