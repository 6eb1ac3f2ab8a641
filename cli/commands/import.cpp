#include <fmt/format.h>

#include <algorithm>

#include "cli/commands/opening.hpp"
#include "cli/input/device.hpp"
#include "cli/input/distinct_files.hpp"
#include "cli/output/files.hpp"
#include "cli/output/json_writer.hpp"
#include "cli/output/text_table.hpp"
#include "cli/output/units.hpp"
#include "cli/output/visible_text.hpp"
#include "validation/profiles/profile.hpp"

namespace roofcast::cli {
namespace {

constexpr HelpPage kHelp = {
    "  roofcast import examples/traces/gpt2_step.json.gz --gpu h100-sxm5\n"
    "  roofcast import examples/traces/gpt2_step.json.gz --gpu h100-sxm5 --format json\n",
    "roofcast import TRACE --gpu NAME [options]",
    "Reads a trace of torch.profiler (export_chrome_trace, plain or gzip, record_shapes=True), "
    "compares\n"
    "each operator's kernels with their forecast and limit on the GPU, and says what to change "
    "first. The\n"
    "share of the time that no forecast exists for is said first."};

std::vector<Option> known_options() {
  std::vector<Option> known = {{"gpu", "NAME|PATH", "the device that the trace is of"},
                               {"rows", "N", "operators listed (default: 20)"},
                               {"format", "table|json", "output format (default: table)"},
                               {"output,o", "FILE", "write there instead of standard output"},
                               {"help,h", "", "this text"}};
  for (auto& option : device_option_table()) known.push_back(std::move(option));
  return known;
}

using validation::CallGroup;
using validation::Mend;
using validation::Profile;

std::string shape_text(const CallGroup& group) {
  std::string text;
  for (const auto& input : group.call.inputs) {
    if (input.dims.empty()) continue;
    text += fmt::format("{}{}", text.empty() ? "" : " ", fmt::join(input.dims, "x"));
    constexpr std::size_t kMost = 40;
    if (text.size() > kMost) break;
  }
  return text;
}

double after_mends(const Profile& profile) {
  double time_s = profile.trace.span_s;
  for (const Mend& mend : profile.mends) time_s -= mend.saved_s;
  return time_s;
}

std::string mends_text(const Profile& profile, const Style& style) {
  std::string text = style.heading("what to change first") + '\n';
  if (profile.mends.empty()) return text + "  nothing that is known here\n";
  TextTable table({{"change"},
                   {"saves", Align::right},
                   {"of the step", Align::right},
                   {"calls", Align::right}});
  for (const Mend& mend : profile.mends) {
    table.add({visible(mend.what), si_text(mend.saved_s, "s"),
               percent(mend.saved_s / profile.trace.span_s), fmt::to_string(mend.calls)});
  }
  return text + table.text(style, "  ") +
         fmt::format("  after all of these: {}\n", si_text(after_mends(profile), "s"));
}

std::string profile_text(const Profile& profile, const Gpu& gpu, std::size_t rows,
                         const Style& style) {
  const auto& trace = profile.trace;
  std::string text = style.heading(visible(
      fmt::format("{} kernels in {}  on {}", trace.kernels, si_text(trace.span_s, "s"), gpu.name)));
  text += fmt::format(
      "\n  no forecast   {} of the kernels' {}\n  recognized    {} measured, {} forecast\n  idle   "
      "       "
      "{} between kernels\n\n",
      percent(1 - profile.recognized_s / trace.busy_s), si_text(trace.busy_s, "s"),
      si_text(profile.recognized_s, "s"), si_text(profile.forecast_s, "s"),
      si_text(std::max(0.0, trace.span_s - trace.busy_s), "s"));
  text += mends_text(profile, style) + '\n';
  TextTable table({{"operator"},
                   {"shapes"},
                   {"calls", Align::right},
                   {"measured", Align::right},
                   {"share", Align::right},
                   {"forecast", Align::right},
                   {"of limit", Align::right},
                   {"bound by"}});
  for (std::size_t i = 0; i < std::min(rows, profile.groups.size()); ++i) {
    const CallGroup& group = profile.groups[i];
    const bool known = group.forecast.has_value();
    table.add({visible(group.call.name), shape_text(group), fmt::to_string(group.count),
               si_text(group.measured_s(), "s"), percent(group.measured_s() / trace.busy_s),
               known ? si_text(group.forecast_s(), "s") : "–",
               known ? percent(group.limit_s() / group.measured_s()) : "–",
               known ? std::string(name(group.forecast->time->terms.binding().resource))
                     : "not recognized"});
  }
  return text + table.text(style, "  ");
}

void write_group(JsonWriter& json, const CallGroup& group) {
  json.begin_object();
  json.member("operator", std::string_view(group.call.name));
  json.member("shapes", std::string_view(shape_text(group)));
  json.member("calls", group.count);
  json.member("measured_s", group.measured_s());
  if (group.forecast) {
    json.member("kernel", group.recognized->kernel.kernel->name);
    json.member("forecast_s", group.forecast_s());
    json.member("limit_s", group.limit_s());
    json.word_member("bound", name(group.forecast->time->terms.binding().resource));
  }
  json.end_object();
}

void write_profile(JsonWriter& json, const Profile& profile, const Gpu& gpu) {
  json.begin_object();
  json.member("gpu", std::string_view(gpu.name));
  json.member("kernels", profile.trace.kernels);
  json.member("span_s", profile.trace.span_s);
  json.member("busy_s", profile.trace.busy_s);
  json.member("recognized_s", profile.recognized_s);
  json.member("forecast_s", profile.forecast_s);
  json.member("after_mends_s", after_mends(profile));
  json.key("mends");
  json.begin_array();
  for (const Mend& mend : profile.mends) {
    json.begin_object();
    json.member("change", std::string_view(mend.what));
    json.member("saved_s", mend.saved_s);
    json.member("calls", mend.calls);
    json.end_object();
  }
  json.end_array();
  json.key("operators");
  json.begin_array();
  for (const CallGroup& group : profile.groups) write_group(json, group);
  json.end_array();
  json.end_object();
  json.newline();
}

}  // namespace

Manual manual_import() {
  return {kHelp, known_options()};
}

ExitCode run_import(const Arguments& arguments) {
  const std::vector<Option> known = known_options();
  const auto given = read_arguments(arguments, kHelp, known);
  if (!given) return ExitCode::done;
  const Options& options = given->options;
  if (given->words.size() != 1) {
    throw UsageError(
        "which trace? For example: roofcast import examples/traces/gpt2_step.json.gz --gpu "
        "h100-sxm5");
  }
  const auto gpu_name = options.find("gpu");
  if (!gpu_name) throw UsageError("--gpu is missing: name the device that the trace is of");
  refuse_output_over_input(options, known, given->words);
  constexpr std::array<std::string_view, 2> formats = {"table", "json"};
  const bool as_json = one_of("--format", options.get("format", "table"), formats) == "json";
  const std::int64_t rows = parse_whole("--rows", options.get("rows", "20"));
  const Gpu gpu = load_device(*gpu_name, read_device_options(options));
  const Profile profile = validation::profile_of(validation::read_trace(given->words.front()), gpu);
  Output output(options.find("output"));
  if (as_json) {
    JsonWriter json(output.buffer());
    write_profile(json, profile, gpu);
  } else {
    const Style style = options.has("output") ? Style(false) : Style::of_standard_output();
    output.write(profile_text(profile, gpu,
                              static_cast<std::size_t>(std::max<std::int64_t>(rows, 0)), style));
  }
  output.commit();
  return ExitCode::done;
}

}  // namespace roofcast::cli
