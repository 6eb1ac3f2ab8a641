#include "reports/model_charts.hpp"

#include <algorithm>
#include <array>

#include "model/types/problem.hpp"
#include "reports/plot.hpp"
#include "reports/text.hpp"

namespace roofcast::reports {
namespace {

using transformer::Direction;
using transformer::Memory;
using transformer::Section;
using transformer::TimelineEvent;

constexpr double kWidth = 760;
constexpr double kHeight = 340;

std::string row_of(const TimelineEvent& event) {
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

Json axis(const std::string& field, const std::string& title, std::string_view unit) {
  return {{"field", field},
          {"type", "quantitative"},
          {"title", title},
          {"axis", {{"labelExpr", si_label(unit)}}}};
}

// Operations of one part that follow each other in a layer are one bar.
Json bars_of(const std::vector<TimelineEvent>& events, std::vector<std::string>& rows,
             std::vector<std::string>& parts) {
  Json bars = Json::array();
  const TimelineEvent* before = nullptr;
  for (const TimelineEvent& event : events) {
    add_once(rows, row_of(event));
    add_once(parts, event.part);
    const double end_s = event.start_s + event.duration_s;
    const bool same = before != nullptr && before->part == event.part &&
                      row_of(*before) == row_of(event) && before->direction == event.direction;
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

std::vector<std::string> lines_of(const std::vector<ModelPoint>& points) {
  std::vector<std::string> lines;
  for (const ModelPoint& point : points) add_once(lines, point.line);
  constexpr std::size_t kMost = 10;
  if (lines.size() > kMost) {
    throw InputError("a chart has up to 10 lines: vary fewer values beside batch");
  }
  return lines;
}

Json rate_rows(const std::vector<ModelPoint>& points) {
  Json rows = Json::array();
  for (const ModelPoint& point : points) {
    rows.push_back({{"line", point.line},
                    {"requests", point.requests},
                    {"rate", point.tokens_per_s},
                    {"low", point.low_tokens_per_s},
                    {"high", point.high_tokens_per_s},
                    {"latency", point.latency_s},
                    {"name", std::to_string(static_cast<std::int64_t>(point.requests))},
                    {"rate_text", si(point.tokens_per_s, "token/s")},
                    {"latency_text", si(point.latency_s, "s")}});
  }
  return rows;
}

// Logarithmic where the values span more than 16 to 1.
Json scaled(Json channel, const std::vector<ModelPoint>& points, double ModelPoint::*value) {
  double low = points.front().*value, high = low;
  for (const ModelPoint& point : points) {
    low = std::min(low, point.*value);
    high = std::max(high, point.*value);
  }
  constexpr double kMostLinear = 16;
  if (low > 0 && high > kMostLinear * low) {
    channel["scale"] = {{"type", "log"}, {"nice", false}, {"padding", 12}};
  }
  return channel;
}

Json line_layers(const Json& x, const Json& y, const std::vector<std::string>& lines) {
  Json colours = colour("line", lines, "", 2);
  if (lines.size() < 2) colours["legend"] = nullptr;
  const Json source = {{"name", "points"}};
  Json layers = Json::array();
  layers.push_back(
      {{"name", "lines"},
       {"data", source},
       {"mark", mark("line", "forecast")},
       {"encoding", {{"x", x}, {"y", y}, {"color", colours}, {"order", {{"field", "requests"}}}}}});
  layers.push_back({{"name", "marks"},
                    {"data", source},
                    {"mark", mark("point", "measured", {{"filled", true}, {"size", 60}})},
                    {"encoding",
                     {{"x", x},
                      {"y", y},
                      {"color", colours},
                      {"tooltip", tooltip({{"line", "On"},
                                           {"name", "Sequences"},
                                           {"rate_text", "Rate"},
                                           {"latency_text", "Latency"}})}}}});
  return layers;
}

void check(const std::vector<ModelPoint>& points) {
  if (points.empty()) throw InputError("there is no step to draw: none has a forecast");
}

}  // namespace

std::string step_timeline_chart(const std::string& title,
                                const std::vector<TimelineEvent>& events) {
  if (events.empty()) throw InputError("there is no step to draw: it has no forecast");
  std::vector<std::string> rows, parts;
  Json bars = bars_of(events, rows, parts);
  // The end stands below the layers.
  constexpr double kMost = 900, kLeast = 5, kHighest = 22;
  const double row = std::clamp(kMost / static_cast<double>(rows.size()), kLeast, kHighest);
  Json spec = chart(title, "One pass, and what comes once a step", {{"bars", std::move(bars)}});
  spec["width"] = kWidth;
  spec["height"] = row * static_cast<double>(rows.size());
  Json y = {{"field", "row"},
            {"type", "nominal"},
            {"title", nullptr},
            {"scale", {{"domain", rows}, {"paddingInner", 0.12}}},
            {"axis", {{"labelOverlap", "greedy"}, {"ticks", false}, {"domain", false}}}};
  spec["layer"] = {{{"name", "bars"},
                    {"data", {{"name", "bars"}}},
                    {"mark", mark("bar", "part")},
                    {"encoding",
                     {{"x", axis("start", "Time", "s")},
                      {"x2", {{"field", "end"}}},
                      {"y", y},
                      {"color", colour("part", parts, "", 4)},
                      {"tooltip", tooltip({{"row", "Where"},
                                           {"part", "Part"},
                                           {"direction", "Direction"},
                                           {"time", "Time"},
                                           {"bound", "Bound by"}})}}}}};
  return json_text(spec);
}

std::string model_memory_chart(const ModelAxes& axes, const std::vector<ModelPoint>& points) {
  check(points);
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
  Json spec = chart("Memory of a GPU: " + axes.title, "The line is what the GPU has",
                    {{"bars", std::move(bars)}, {"limits", std::move(limits)}});
  spec["width"] = kWidth;
  spec["height"] = std::clamp(26.0 * static_cast<double>(names.size()), 60.0, 900.0);
  const Json y = {{"field", "name"},
                  {"type", "nominal"},
                  {"title", axes.requests},
                  {"scale", {{"domain", names}}},
                  {"axis", {{"labelOverlap", "greedy"}, {"labelLimit", 320}}}};
  spec["layer"] = {
      {{"name", "bars"},
       {"data", {{"name", "bars"}}},
       {"mark", mark("bar", "part")},
       {"encoding",
        {{"x", axis("from", "Memory", "B")},
         {"x2", {{"field", "to"}}},
         {"y", y},
         {"color", colour("part", parts, "", 6)},
         {"tooltip",
          tooltip(
              {{"name", axes.requests}, {"part", "Part"}, {"text", "Bytes"}, {"total", "All"}})}}}},
      {{"name", "limits"},
       {"data", {{"name", "limits"}}},
       {"mark", mark("tick", "reference", {{"thickness", 2}})},
       {"encoding",
        {{"x", axis("bytes", "Memory", "B")},
         {"y", y},
         {"tooltip", tooltip({{"text", "The GPU has"}})}}}}};
  return json_text(spec);
}

std::string model_rate_chart(const ModelAxes& axes, const std::vector<ModelPoint>& points) {
  check(points);
  const std::vector<std::string> lines = lines_of(points);
  const Json x = scaled(axis("requests", axes.requests, ""), points, &ModelPoint::requests);
  const Json y = scaled(axis("rate", "Tokens a second, all GPUs", "token/s"), points,
                        &ModelPoint::tokens_per_s);
  Json spec = chart("Tokens a second: " + axes.title, "Band: interval of the forecast",
                    {{"points", rate_rows(points)}});
  Json layers = line_layers(x, y, lines);
  Json low = y;
  low["field"] = "low";
  Json colours = colour("line", lines, "", 2);
  if (lines.size() < 2) colours["legend"] = nullptr;
  layers.insert(
      layers.begin(),
      Json{{"name", "intervals"},
           {"data", {{"name", "points"}}},
           {"mark", mark("area", "interval")},
           {"encoding", {{"x", x}, {"y", low}, {"y2", {{"field", "high"}}}, {"color", colours}}}});
  spec["width"] = kWidth;
  spec["height"] = kHeight;
  spec["layer"] = std::move(layers);
  return json_text(spec);
}

std::string model_latency_chart(const ModelAxes& axes, const std::vector<ModelPoint>& points) {
  check(points);
  const Json x = scaled(axis("latency", axes.latency, "s"), points, &ModelPoint::latency_s);
  const Json y = scaled(axis("rate", "Tokens a second, all GPUs", "token/s"), points,
                        &ModelPoint::tokens_per_s);
  Json spec = chart("Tokens a second against latency: " + axes.title,
                    "Beside each point: " + axes.requests, {{"points", rate_rows(points)}});
  Json layers = line_layers(x, y, lines_of(points));
  layers.push_back({{"name", "names"},
                    {"data", {{"name", "points"}}},
                    {"mark", mark("text", "point-name", {{"align", "left"}, {"dx", 8}})},
                    {"encoding", {{"x", x}, {"y", y}, {"text", {{"field", "name"}}}}}});
  spec["width"] = kWidth;
  spec["height"] = kHeight;
  spec["layer"] = std::move(layers);
  return json_text(spec);
}

}  // namespace roofcast::reports
