#include "cli/output/profile_output.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "cli/output/answer.hpp"
#include "cli/output/text_table.hpp"
#include "cli/output/units.hpp"
#include "cli/output/visible_text.hpp"
#include "validation/profiles/words.hpp"

namespace roofcast::cli {
namespace {

using validation::CallGroup;
using validation::Mend;
using validation::Profile;

constexpr const char* kNone = "–";

double share_of(double part_s, const Profile& profile) {
  return profile.trace.busy_s > 0 ? part_s / profile.trace.busy_s : 0;
}

/// Share of the busy time outside the part; not below 0, as rounding of sums would make it.
double rest_of(double part_s, const Profile& profile) {
  return std::max(0.0, 1 - share_of(part_s, profile));
}

std::size_t kinds(const Profile& profile, validation::Lacks lacks) {
  return static_cast<std::size_t>(
      std::count_if(profile.groups.begin(), profile.groups.end(),
                    [&](const CallGroup& group) { return group.lacks == lacks; }));
}

std::string heading_text(const ProfileAnswer& answer, const Style& style) {
  const auto& trace = answer.profile.trace;
  std::string title =
      fmt::format("{} {} in {}  on {}", trace.kernels, trace.kernels == 1 ? "kernel" : "kernels",
                  si_text(trace.busy_s, "s"), answer.gpu.name);
  if (!trace.device.empty()) title += fmt::format(" (measured on {})", trace.device);
  return style.heading(visible(title)) + '\n';
}

std::string summary_text(const Profile& profile) {
  const auto& trace = profile.trace;
  std::string text = fmt::format("  not recognized  {} of the time, {} kinds of kernels\n",
                                 percent(rest_of(profile.recognized_s, profile)),
                                 kinds(profile, validation::Lacks::name));
  text += fmt::format("  no forecast     {} of the time",
                      percent(rest_of(profile.compared_s, profile)));
  if (profile.no_shape_s > 0) {
    text += fmt::format(", {} for want of a shape ({} kinds)",
                        percent(share_of(profile.no_shape_s, profile)),
                        kinds(profile, validation::Lacks::shape));
  }
  text += fmt::format("\n  compared        {} measured, {} forecast",
                      si_text(profile.compared_s, "s"), si_text(profile.expected_s, "s"));
  if (profile.compared_s > 0) {
    text += fmt::format(" ({})", signed_percent(profile.expected_s / profile.compared_s - 1));
  }
  if (trace.counted) {
    return text + "\n  cache           cold: ncu empties L2 before each kernel\n\n";
  }
  text += fmt::format("\n  waiting         {} between kernels, {} in all\n",
                      si_text(std::max(0.0, trace.span_s - trace.busy_s), "s"),
                      si_text(trace.span_s, "s"));
  return text +
         "  cache           warm: L2 holds what an earlier kernel left, as far as it fits\n\n";
}

std::string mends_text(const Profile& profile, const Style& style) {
  std::string text = style.heading("what to change first") + '\n';
  if (profile.mends.empty()) return text + "  nothing that is known here\n\n";
  TextTable table({{"change"},
                   {"saves", Align::right},
                   {"share", Align::right},
                   {"leaves", Align::right},
                   {"calls", Align::right}});
  for (const Mend& mend : profile.mends) {
    const double of_s = mend.saves_waiting ? profile.trace.span_s : profile.trace.busy_s;
    table.add({mend.what, si_text(mend.saved_s, "s"), percent(mend.saved_s / of_s),
               si_text(mend.total_after_s, "s"), fmt::to_string(mend.calls)});
  }
  text += table.text(style, "  ");
  if (profile.mends.size() > 1) {
    const double left_s = profile.trace.busy_s - validation::saved_together_s(profile.mends);
    text += fmt::format(
        "  all together: {} of kernels, where of changes to the same kernels the largest counts\n",
        si_text(left_s, "s"));
  }
  return text + '\n';
}

std::string impossible_text(const Profile& profile, const Style& style) {
  TextTable table({{"kernel"}, {"shapes"}, {"measured", Align::right}, {"limit", Align::right}});
  bool any = false;
  for (const CallGroup& group : profile.groups) {
    if (!group.impossible()) continue;
    any = true;
    table.add({visible(name_text(group)), visible(shape_text(group)),
               si_text(group.measured_s(), "s"), si_text(*group.limit_s, "s")});
  }
  if (!any) return "";
  return fmt::format("{}\n{}\n", style.heading("faster than the limit: no hardware can do that"),
                     table.text(style, "  "));
}

std::string kernels_text(const Profile& profile, std::size_t rows, const Style& style) {
  TextTable table({{"kernel"},
                   {"shapes"},
                   {"calls", Align::right},
                   {"time", Align::right},
                   {"share", Align::right},
                   {"forecast", Align::right},
                   {"of limit", Align::right},
                   {"bound by"},
                   {"occupancy", Align::right},
                   {"waves", Align::right},
                   {"FLOP/B", Align::right},
                   {"FLOP/s", Align::right}});
  for (std::size_t i = 0; i < std::min(rows, profile.groups.size()); ++i) {
    const CallGroup& group = profile.groups[i];
    const double call_s = group.measured_s() / static_cast<double>(group.count());
    const bool placed = group.place && group.place->flops > 0;
    const auto& achieved = group.longest_kernel().achieved_occupancy;
    table.add({visible(name_text(group)), visible(shape_text(group)), fmt::to_string(group.count()),
               si_text(group.measured_s(), "s"), percent(share_of(group.measured_s(), profile)),
               group.expected_s ? si_text(*group.expected_s, "s") : kNone,
               group.limit_s ? percent(*group.limit_s / group.measured_s()) : kNone,
               std::string(bound_text(group)), achieved ? percent(*achieved) : kNone,
               group.waves ? figure_text(group.waves->count, 3) : kNone,
               placed && group.place->dram_bytes > 0
                   ? figure_text(group.place->flops / group.place->dram_bytes, 3)
                   : kNone,
               placed ? si_text(group.place->flops / call_s, "FLOP/s", 3) : kNone});
  }
  std::string text = table.text(style, "  ");
  if (profile.groups.size() > rows) {
    text += fmt::format("  and {} more: --rows {}\n", profile.groups.size() - rows,
                        profile.groups.size());
  }
  return text;
}

}  // namespace

std::string profile_text(const ProfileAnswer& answer, std::size_t rows, const Style& style) {
  const Profile& profile = answer.profile;
  return heading_text(answer, style) + summary_text(profile) + mends_text(profile, style) +
         impossible_text(profile, style) + kernels_text(profile, rows, style);
}

}  // namespace roofcast::cli
