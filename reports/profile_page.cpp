#include "reports/profile_page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "reports/chart.hpp"
#include "reports/html_table.hpp"
#include "reports/page.hpp"
#include "reports/report_tables.hpp"
#include "reports/text.hpp"
#include "validation/profiles/words.hpp"

namespace roofcast::reports {
namespace {

using validation::CallGroup;
using validation::Mend;
using validation::Profile;

constexpr std::size_t kMostDrawn = 16;
constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

double share_of(double part_s, const Profile& profile) {
  return profile.trace.busy_s > 0 ? part_s / profile.trace.busy_s : 0;
}

std::string share_cell(double share, std::string_view tone = "") {
  return number_cell(share, percent(share), tone);
}

std::string figures(const Profile& profile) {
  const double unknown = std::max(0.0, 1 - share_of(profile.recognized_s, profile));
  const double without = std::max(0.0, 1 - share_of(profile.compared_s, profile));
  std::string html = "<dl class=\"figures\">\n";
  html += figure("Not recognized", percent(unknown), "of the kernels' time", tone(unknown));
  html += figure("No forecast", percent(without),
                 profile.no_shape_s > 0
                     ? percent(share_of(profile.no_shape_s, profile)) + " for want of a shape"
                     : "of the kernels' time",
                 tone(without));
  html += figure("Kernels", si(profile.trace.busy_s, "s"),
                 fmt::format("{} launches", profile.trace.kernels));
  if (profile.compared_s > 0) {
    const double error = profile.expected_s / profile.compared_s - 1;
    html += figure("Forecast", si(profile.expected_s, "s"),
                   fmt::format("of {} ({})", si(profile.compared_s, "s"), signed_percent(error)),
                   tone(std::abs(error)));
  }
  if (!profile.trace.counted) {
    html += figure("Waiting", si(std::max(0.0, profile.trace.span_s - profile.trace.busy_s), "s"),
                   "between kernels");
  }
  return html + "</dl>\n";
}

std::string mend_table(const Profile& profile) {
  if (profile.mends.empty()) return "<p class=\"note\">Nothing that is known here.</p>\n";
  std::string body;
  for (const Mend& mend : profile.mends) {
    const double of_s = mend.saves_waiting ? profile.trace.span_s : profile.trace.busy_s;
    body += "<tr>" + text_cell(mend.what) + time_cell(mend.saved_s) +
            share_cell(mend.saved_s / of_s) + time_cell(mend.total_after_s) +
            number_cell(static_cast<double>(mend.calls), fmt::to_string(mend.calls)) + "</tr>\n";
  }
  return table("mends",
               heading("Change", true) + heading("Saves", false) + heading("Share", false) +
                   heading("Leaves", false, "what is left of the whole after this change alone") +
                   heading("Calls", false, "that it changes"),
               body);
}

std::string kernel_row(const CallGroup& group, const Profile& profile) {
  const double call_s = group.measured_s() / static_cast<double>(group.count());
  const auto& place = group.place;
  const bool computes = place && place->flops > 0;
  const double of_limit = group.limit_s ? *group.limit_s / group.measured_s() : kNone;
  const double occupancy = group.longest_kernel().achieved_occupancy.value_or(kNone);
  const double waves = group.waves ? group.waves->count : kNone;
  const double intensity =
      computes && place->dram_bytes > 0 ? place->flops / place->dram_bytes : kNone;
  return "<tr>" + text_cell(name_text(group)) + text_cell(shape_text(group)) +
         number_cell(static_cast<double>(group.count()), fmt::to_string(group.count())) +
         time_cell(group.measured_s()) + share_cell(share_of(group.measured_s(), profile)) +
         time_cell(group.expected_s.value_or(kNone)) +
         share_cell(of_limit, of_limit > 1 ? "bad" : "") + text_cell(bound_text(group)) +
         share_cell(occupancy) + number_cell(waves, figure_text(waves, 3)) +
         number_cell(intensity, figure_text(intensity, 3)) +
         number_cell(computes ? place->flops / call_s : kNone,
                     computes ? si(place->flops / call_s, "FLOP/s") : "") +
         "</tr>\n";
}

std::string kernel_table(const Profile& profile) {
  const std::string head =
      heading("Kernel", true) + heading("Shapes", true) + heading("Calls", false) +
      heading("Time", false, "of all calls") + heading("Share", false) +
      heading("Forecast", false, "expected time of all calls") +
      heading("Of limit", false, "limit ÷ time: more than 100% is impossible") +
      heading("Bound by", true) + heading("Occupancy", false, "as the profiler says") +
      heading("Waves", false, "of the longest kernel's blocks") +
      heading("FLOP/B", false, "of DRAM") + heading("FLOP/s", false);
  std::string body;
  for (const CallGroup& group : profile.groups) body += kernel_row(group, profile);
  return table("cases", head, body);
}

RooflinePoint point_of(const CallGroup& group) {
  const double call_s = group.measured_s() / static_cast<double>(group.count());
  const double calls = static_cast<double>(group.count());
  const double forecast_s = group.expected_s.value_or(group.limit_s.value_or(group.measured_s()));
  const auto& place = *group.place;
  RooflinePoint point;
  point.label = name_text(group) + " " + shape_text(group);
  point.brief = point.label;
  point.intensity = place.dram_bytes > 0 ? place.flops / place.dram_bytes : 0;
  point.predicted_flops_per_s = place.flops * calls / forecast_s;
  point.measured_flops_per_s = place.flops / call_s;
  point.dram_bytes_per_s = place.dram_bytes * calls / forecast_s;
  point.measured_dram_bytes_per_s = place.dram_bytes / call_s;
  if (place.counted) point.measured_intensity = point.intensity;
  if (group.limit_s && *group.limit_s > 0) {
    point.limit_flops_per_s = place.flops * calls / *group.limit_s;
  }
  if (group.forecast) {
    point.roofs = {{"", group.forecast->problem.dtype}};
    for (const DType type : kAllDTypes) {
      if (group.forecast->work.tensor_flops[type] > 0) point.roofs = {{"tensor", type}};
    }
  }
  return point;
}

}  // namespace

std::string profile_roofline(const Profile& profile, const Gpu& gpu, double width) {
  std::vector<RooflinePoint> points;
  for (const CallGroup& group : profile.groups) {
    if (!group.place || points.size() == kMostDrawn) continue;
    points.push_back(point_of(group));
  }
  return roofline_chart(gpu, points, width);
}

std::string profile_page(const Profile& profile, const Gpu& gpu, const std::string& file) {
  const std::string title = "Profile: " + file;
  const std::string device =
      profile.trace.device.empty() ? gpu.title : gpu.name + ", measured on " + profile.trace.device;
  std::string body = page_begin(title, device) + figures(profile);
  body += "<h2>What to change first</h2>\n" + mend_table(profile);
  body += "<h2>The longest kernels under the roofline</h2>\n" + chart_element("roofline");
  body += "<h2>Every kernel</h2>\n" + filter_field("kernel, shape, bound", "the kernels") +
          kernel_table(profile);
  body += profile.trace.counted
              ? "<p class=\"note\">Limits and forecasts are of an empty L2: ncu clears it before "
                "each kernel.</p>\n"
              : "<p class=\"note\">Limits and forecasts are of an L2 that holds what an earlier "
                "kernel left, as far as it fits.</p>\n";
  return page(title, body + "</main>", {page_chart("roofline", kRooflineWidth, [&](double width) {
                return profile_roofline(profile, gpu, width);
              })});
}

}  // namespace roofcast::reports
