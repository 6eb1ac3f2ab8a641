#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "reports/chart.hpp"
#include "reports/roofline_dots.hpp"
#include "reports/roofline_roofs.hpp"
#include "reports/text.hpp"

namespace roofcast::reports {
namespace {

constexpr double kHeight = 430;
/// A frame with more points has no names, levels and intervals; several families then have panels.
constexpr std::size_t kMostTogether = 16;
/// Width of a family's panel (px): two side by side are legible at the width of a README.
constexpr double kPanelWidth = 320;
constexpr double kPanelHeight = 280;
/// A legend below a frame may be this much wider (px): the y axis leaves it room at the left.
constexpr double kBesideLegend = 90;

struct Panel {
  Json unit;
  std::vector<std::string> unnamed;  ///< kernels without a name beside a point
};

std::vector<std::string> kernels_of(const std::vector<Dot>& dots) {
  std::vector<std::string> kernels;
  for (const Dot& dot : dots) add_once(kernels, first_word(dot.point->label));
  return kernels;
}

Panel panel(Json& data, const std::string& prefix, const Roofs& roofs, const std::vector<Dot>& dots,
            const DotNames& names, double width, double height) {
  const Frame frame = frame_around(roofs, dots, width, height);
  add_roofs(data, prefix, roofs, frame, dots);
  Panel result;
  result.unnamed = add_dots(data, prefix, frame, roofs, dots, names);
  Json layers = Json::array();
  add_roof_layers(layers, prefix, frame);
  Json colours = colour("kernel", kernels_of(dots), "", 5);
  // A kernel with a name beside its point needs no entry in the legend.
  if (result.unnamed.empty()) {
    colours["legend"] = nullptr;
  } else {
    colours["legend"]["values"] = result.unnamed;
    colours["legend"]["symbolLimit"] = 0;
    if (width < kRooflineWidth) {
      colours["legend"]["columns"] = legend_columns(result.unnamed, width + kBesideLegend, 5);
    }
  }
  if (!dots.empty()) add_dot_layers(layers, prefix, frame, colours, dots.size());
  result.unit = {{"width", width}, {"height", height}, {"layer", std::move(layers)}};
  return result;
}

std::string family_of(const Dot& dot) {
  const std::string kernel = first_word(dot.point->label);
  return kernel.substr(0, kernel.find('.'));
}

/// The dots by family, in the order of each family's first dot.
std::vector<std::pair<std::string, std::vector<Dot>>> by_family(const std::vector<Dot>& dots) {
  std::vector<std::pair<std::string, std::vector<Dot>>> families;
  for (const Dot& dot : dots) {
    const std::string family = family_of(dot);
    auto found = std::find_if(families.begin(), families.end(),
                              [&](const auto& entry) { return entry.first == family; });
    if (found == families.end()) found = families.insert(families.end(), {family, {}});
    found->second.push_back(dot);
  }
  return families;
}

/// Without the compute roofs that no dot needs: panels side by side have little room for names.
Roofs asked_roofs(Roofs roofs, const std::vector<Dot>& dots) {
  std::erase_if(roofs.compute, [&](const ComputeRoof& roof) { return !is_asked(roof, dots); });
  return roofs;
}

/// Names of the dots; empty if there are too many, and the legend then names the kernels.
DotNames names_where_they_fit(const std::vector<Dot>& dots) {
  if (dots.size() <= kMostTogether) return names_of(dots);
  return {std::vector<std::string>(dots.size()), ""};
}

/// The dots; if there are many, without levels and intervals, which would hide them.
std::vector<Dot> bare(std::vector<Dot> dots) {
  if (dots.size() <= kMostTogether) return dots;
  for (Dot& dot : dots) {
    dot.levels.clear();
    dot.has_interval = false;
  }
  return dots;
}

Json family_panels(Json& data, const Roofs& roofs, const std::vector<Dot>& dots, double width) {
  Json panels = Json::array();
  for (const auto& [family, own] : by_family(dots)) {
    const DotNames names = names_where_they_fit(own);
    Panel one =
        panel(data, family + ": ", asked_roofs(roofs, own), bare(own), names, width, kPanelHeight);
    one.unit["title"] = {{"text", family}, {"subtitle", names.common}, {"style", "panel-title"}};
    panels.push_back(std::move(one.unit));
  }
  return panels;
}

std::string subtitle_of(const std::vector<Dot>& dots, bool sustained) {
  const auto any = [&](auto&& is) { return std::any_of(dots.begin(), dots.end(), is); };
  std::string text = "Roofs at datasheet clocks";
  if (sustained) text += ", dashed: sustained (calibrated)";
  if (any([](const Dot& d) { return !d.point->is_limit; })) text += " · ○\u00a0DRAM";
  if (any([](const Dot& d) { return !d.levels.empty(); }))
    text += " ◇\u00a0L2 △\u00a0L1 and shared";
  if (any([](const Dot& d) { return d.point->is_limit; })) text += " · □\u00a0limit of a family";
  if (any([](const Dot& d) { return d.measured.has_value(); })) text += " · ●\u00a0measured";
  if (any([](const Dot& d) { return d.has_interval; })) {
    text += " · bar: interval";
  }
  if (any([](const Dot& d) { return d.beyond; })) text += " · ▷\u00a0further right";
  return text;
}

}  // namespace

std::string roofline_chart(const Gpu& gpu, const std::vector<RooflinePoint>& points, double width) {
  const Roofs roofs{memory_roofs(gpu), compute_roofs(gpu)};
  const std::vector<Dot> dots = drawable_dots(points, roofs);
  const bool sustained = std::any_of(roofs.memory.begin(), roofs.memory.end(), [](const auto& r) {
    return r.sustained_bytes_per_s.has_value();
  });

  Json data = Json::object();
  const bool apart = dots.size() > kMostTogether && by_family(dots).size() > 1;
  const double panel_width = std::min(kPanelWidth, width);
  Json units = Json::array();
  std::string common;
  if (apart) {
    units = family_panels(data, roofs, dots, panel_width);
  } else {
    const DotNames names = names_where_they_fit(dots);
    common = names.common;
    units.push_back(
        panel(data, "", roofs, bare(dots), names, width, std::min(kHeight, 1.3 * width)).unit);
  }
  Json bars = bandwidth_panel(data, points, roofs, apart ? panel_width : width);

  const std::string title = gpu.title.empty() ? gpu.name : gpu.title;
  Json spec = chart(title, subtitle_of(apart ? dots : bare(dots), sustained), std::move(data));
  const std::string said = spec["title"]["subtitle"];
  Json lines = wrapped_lines(said, width);
  if (!common.empty()) lines.insert(lines.begin(), common);
  if (lines.size() > 1) spec["title"]["subtitle"] = std::move(lines);
  if (is_narrow(width)) make_narrow(spec, width);
  return stacked(std::move(spec), std::move(units), std::move(bars),
                 apart && !is_narrow(width) ? 2 : 1, {{"color", "independent"}});
}

}  // namespace roofcast::reports
