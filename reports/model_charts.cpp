#include "reports/model_charts.hpp"

#include <algorithm>
#include <array>
#include <map>

#include "model/types/problem.hpp"
#include "reports/bar_names.hpp"
#include "reports/narrow.hpp"
#include "reports/plot.hpp"
#include "reports/text.hpp"

namespace roofcast::reports {
namespace {

using transformer::Direction;
using transformer::Memory;
using transformer::Section;
using transformer::TimelineEvent;

constexpr double kBar = 18;
constexpr double kGap = 10;

std::string row_of(const TimelineEvent& event) {
  if (event.beside) return "transfers beside";
  switch (event.section) {
    case Section::begin:
      return "embedding";
    case Section::end:
      return "head and loss";
    case Section::once:
      return "once a step";
    default:
      return "layer " + std::to_string(event.layer);
  }
}

Json axis(const std::string& field, const std::string& title, std::string_view unit, double width) {
  Json axis = {{"labelExpr", si_label(unit)}, {"labelOverlap", true}};
  if (is_narrow(width)) axis["tickCount"] = 3;
  return {{"field", field}, {"type", "quantitative"}, {"title", title}, {"axis", axis}};
}

Json coloured(const std::string& field, const std::vector<std::string>& names, double width,
              int most) {
  Json channel = colour(field, names, "", legend_columns(names, narrow_room(width), most));
  channel["legend"]["labelLimit"] = 0;
  return channel;
}

/// The number of distinguishable colours.
constexpr std::size_t kMostParts = 10;

/// Each part's name in the legend. With more than kMostParts parts, the kMostParts − 1 that take
/// the most time keep theirs and the rest are "other".
std::map<std::string, std::string> told_parts(const std::vector<TimelineEvent>& events) {
  std::map<std::string, double> total_s;
  for (const TimelineEvent& event : events) total_s[event.part] += event.duration_s;
  std::vector<std::string> parts;
  parts.reserve(total_s.size());
  for (const auto& [part, time_s] : total_s) parts.push_back(part);
  std::stable_sort(parts.begin(), parts.end(), [&](const std::string& a, const std::string& b) {
    return total_s[a] > total_s[b];
  });
  std::map<std::string, std::string> told;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const bool has_colour = parts.size() <= kMostParts || i + 1 < kMostParts;
    told[parts[i]] = has_colour ? parts[i] : "other";
  }
  return told;
}

// Operations of the same part, row and direction become one bar if one begins when the other ends.
Json bars_of(const std::vector<TimelineEvent>& events, std::vector<std::string>& rows,
             std::vector<std::string>& parts) {
  const auto told = told_parts(events);
  Json bars = Json::array();
  const TimelineEvent* before = nullptr;
  const auto continues = [](const TimelineEvent& first, const TimelineEvent& next) {
    constexpr double kRounding_s = 1e-9;
    return first.part == next.part && row_of(first) == row_of(next) &&
           first.direction == next.direction &&
           next.start_s - (first.start_s + first.duration_s) < kRounding_s;
  };
  for (const TimelineEvent& event : events) {
    add_once(rows, row_of(event));
    add_once(parts, told.at(event.part));
    const double end_s = event.start_s + event.duration_s;
    const bool same = before != nullptr && continues(*before, event);
    before = &event;
    if (same) {
      Json& bar = bars.back();
      bar["end"] = end_s;
      bar["time"] = si(end_s - bar["start"].get<double>(), "s");
      continue;
    }
    bars.push_back(
        {{"row", row_of(event)},
         {"part", event.part},
         {"told", told.at(event.part)},
         {"start", event.start_s},
         {"end", end_s},
         {"time", si(event.duration_s, "s")},
         {"direction", transformer::kDirections[static_cast<std::size_t>(event.direction)]},
         {"bound", event.bound}});
  }
  return bars;
}

struct MemoryPart {
  const char* name;
  double Memory::*bytes;
};
constexpr std::array kMemoryParts = {
    MemoryPart{"weights", &Memory::weights},     MemoryPart{"gradients", &Memory::gradients},
    MemoryPart{"optimizer", &Memory::optimizer}, MemoryPart{"activations", &Memory::activations},
    MemoryPart{"cache", &Memory::cache},         MemoryPart{"workspace", &Memory::workspace}};

std::string name_of(const ModelPoint& point, bool several_lines) {
  const std::string requests = std::to_string(static_cast<std::int64_t>(point.requests));
  return several_lines ? point.line + " · " + requests : requests;
}

bool has_several_lines(const std::vector<ModelPoint>& points) {
  return std::any_of(points.begin(), points.end(),
                     [&](const ModelPoint& one) { return one.line != points.front().line; });
}

}  // namespace

void expect_points(const std::vector<ModelPoint>& points) {
  if (points.empty()) throw InputError("there is no step to draw: none has a forecast");
}

std::string step_timeline_chart(const std::string& title, const std::vector<TimelineEvent>& events,
                                double width) {
  if (events.empty()) throw InputError("there is no step to draw: it has no forecast");
  std::vector<std::string> rows, parts;
  Json bars = bars_of(events, rows, parts);
  // Height of a row (px): the rows share kMost, within bounds.
  constexpr double kMost = 900, kLeast = 5, kHighest = 22;
  const double row = std::clamp(kMost / static_cast<double>(rows.size()), kLeast, kHighest);
  Json spec = chart(title, "One pass, and what comes once a step", {{"bars", std::move(bars)}});
  Json y = nominal_channel("row", rows,
                           {{"labelOverlap", "greedy"}, {"ticks", false}, {"domain", false}});
  y["scale"]["paddingInner"] = 0.12;
  const Json bar = layer("bars", "bars", mark("bar", "part"),
                         {{"x", axis("start", "Time", "s", width)},
                          {"x2", {{"field", "end"}}},
                          {"y", y},
                          {"color", coloured("told", parts, width, 4)},
                          {"tooltip", tooltip({{"row", "Where"},
                                               {"part", "Part"},
                                               {"direction", "Direction"},
                                               {"time", "Time"},
                                               {"bound", "Bound by"}})}});
  return layered(std::move(spec), width, row * static_cast<double>(rows.size()), Json::array({bar}),
                 width);
}

std::string model_memory_chart(const ModelAxes& axes, const std::vector<ModelPoint>& points,
                               double width) {
  expect_points(points);
  const bool several = has_several_lines(points);
  std::vector<std::string> names, parts;
  Json bars = Json::array(), limits = Json::array();
  for (const ModelPoint& point : points) {
    const std::string name = name_of(point, several);
    add_once(names, name);
    double from = 0;
    for (const MemoryPart& part : kMemoryParts) {
      const double bytes = point.memory.*part.bytes;
      if (bytes <= 0) continue;
      add_once(parts, part.name);
      bars.push_back({{"name", name},
                      {"part", part.name},
                      {"from", from},
                      {"to", from + bytes},
                      {"text", si(bytes, "B")},
                      {"total", si(point.memory.total(), "B")}});
      from += bytes;
    }
    if (!point.capacity_bytes) continue;
    limits.push_back({{"name", name},
                      {"bytes", *point.capacity_bytes},
                      {"text", si(*point.capacity_bytes, "B")}});
  }
  const BarNames rows(names, width, frame_without_axis(width), kBar, kGap);
  Json data = {{"bars", std::move(bars)}, {"limits", std::move(limits)}};
  const Json y = rows.y("name");
  Json layers = Json::array();
  layers.push_back(layer(
      "bars", "bars", rows.moved(mark("bar", "part", {{"height", kBar}})),
      {{"x", axis("from", "Memory", "B", width)},
       {"x2", {{"field", "to"}}},
       {"y", y},
       {"color", coloured("part", parts, width, 6)},
       {"tooltip",
        tooltip(
            {{"name", axes.requests}, {"part", "Part"}, {"text", "Bytes"}, {"total", "All"}})}}));
  layers.push_back(
      layer("limits", "limits",
            rows.moved(mark("tick", "reference", {{"thickness", 2}, {"height", kBar + kGap / 2}})),
            {{"x", axis("bytes", "Memory", "B", width)},
             {"y", y},
             {"tooltip", tooltip({{"text", "The GPU has"}})}}));
  rows.add_layer(layers, data);
  Json spec = chart("Memory of a GPU: " + axes.title,
                    "A bar for each: " + axes.requests + ". The line is what the GPU has.",
                    std::move(data));
  return layered(std::move(spec), rows.frame(), rows.height(), std::move(layers), width);
}

}  // namespace roofcast::reports
