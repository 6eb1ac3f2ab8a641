#include "reports/narrow.hpp"

#include <algorithm>
#include <sstream>
#include <utility>

#include "reports/chart.hpp"
#include "reports/point_labels.hpp"

namespace roofcast::reports {
namespace {

constexpr double kMargin = 8;
/// Width of a legend's entry without its text (px): symbol and gaps.
constexpr double kEntry = 36;
/// Width of heading text relative to text_width: it is larger and bold.
constexpr double kHeading = 1.35;

Json as_lines(const Json& given, double room) {
  Json lines = Json::array();
  const auto add = [&](const std::string& text) {
    for (std::string& line : lines_within(text, room)) lines.push_back(std::move(line));
  };
  if (given.is_array()) {
    for (const Json& line : given) add(line.get<std::string>());
  } else {
    add(given.get<std::string>());
  }
  return lines.size() == 1 ? lines[0] : lines;
}

}  // namespace

double narrow_room(double width) {
  return width + kNarrowPicture - kNarrowFrame - 2 * kMargin;
}

double frame_without_axis(double width) {
  constexpr double kLastTick = 16;  // half the last tick's label, beyond the frame (px)
  return is_narrow(width) ? narrow_room(width) - kLastTick : width;
}

int legend_columns(const std::vector<std::string>& names, double room, int most) {
  double widest = 0;
  for (const std::string& name : names) widest = std::max(widest, text_width(name));
  return std::clamp(static_cast<int>(room / (widest + kEntry)), 1, most);
}

std::vector<std::string> lines_within(const std::string& text, double room) {
  std::vector<std::string> lines;
  std::string line;
  std::istringstream stream(text);
  for (std::string word; stream >> word;) {
    std::string longer = line;
    longer.append(line.empty() ? "" : " ").append(word);
    if (!line.empty() && text_width(longer) > room) {
      lines.push_back(std::exchange(line, word));
    } else {
      line = std::move(longer);
    }
  }
  lines.push_back(line);
  return lines;
}

void make_narrow(Json& spec, double width) {
  const double room = narrow_room(width);
  Json& title = spec["title"];
  title["text"] = as_lines(title["text"], room / kHeading);
  title["subtitle"] = as_lines(title["subtitle"], room);
  title["frame"] = "bounds";
  spec["config"]["padding"] = kMargin;
  spec["config"]["legend"]["layout"] = {{"bottom", {{"anchor", "start"}, {"frame", "bounds"}}}};
}

}  // namespace roofcast::reports
