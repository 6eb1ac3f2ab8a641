#include "cli/output/inspection.hpp"

#include <algorithm>

#include "cli/output/text_table.hpp"
#include "cli/output/units.hpp"
#include "cli/output/visible_text.hpp"
#include "validation/sass/pipe_shares.hpp"

namespace roofcast::cli {
namespace {

using sass::kAllPipes;
using sass::KernelReport;
using sass::Mix;
using sass::Pipe;
using sass::PipeShares;

/// Smallest share of a pipe's peak that the text shows.
constexpr double kLeastShown = 0.1;

/// Instructions by pipe, "fma 64, lsu 18", the most first.
std::string pipes_text(const Mix& mix) {
  std::vector<Pipe> pipes;
  std::copy_if(kAllPipes.begin(), kAllPipes.end(), std::back_inserter(pipes),
               [&mix](Pipe pipe) { return mix[pipe] > 0; });
  std::stable_sort(pipes.begin(), pipes.end(), [&mix](Pipe a, Pipe b) { return mix[a] > mix[b]; });
  std::string text;
  for (const Pipe pipe : pipes) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name(pipe), mix[pipe]);
  }
  return text;
}

std::string accesses_text(const Mix& mix) {
  std::string text;
  for (const auto& [access, count] : mix.accesses) {
    text += fmt::format("{}{}{}", text.empty() ? "" : ", ", access,
                        count > 1 ? fmt::format(" ×{}", count) : "");
  }
  return text;
}

/// The pipes that are busy for a tenth of the time or more, "issue 100%, fma 78%", the busiest
/// first.
std::string shares_text(const Mix& mix, const InspectedKernel& kernel) {
  const auto shares = kernel.gpu ? sass::shares_of(mix, *kernel.gpu) : std::nullopt;
  if (!shares) return "–";
  std::vector<std::pair<std::string_view, double>> busy = {{"issue", *shares->issue}};
  for (const Pipe pipe : kAllPipes) {
    if ((*shares)[pipe]) busy.emplace_back(name(pipe), *(*shares)[pipe]);
  }
  std::erase_if(busy, [](const auto& one) { return one.second < kLeastShown; });
  std::stable_sort(busy.begin(), busy.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  std::string text;
  for (const auto& [pipe, share] : busy) {
    text += fmt::format("{}{} {:.0f}%", text.empty() ? "" : ", ", pipe, 100 * share);
  }
  // Matrix products of unknown shape are not counted and may take the longest.
  return mix.unknown_tensor_shape ? text + "; tensor not known" : text;
}

std::string resources_text(const KernelReport& report) {
  if (!report.resources) return "  registers and memories: the tool names none\n";
  const sass::Resources& held = *report.resources;
  return fmt::format(
      "  registers        {} a thread\n"
      "  shared memory    {} a block, static\n"
      "  constant memory  {} with the parameters\n"
      "  local memory     {} a thread: {} loads and {} stores stand in the code{}\n",
      held.registers,
      binary_bytes(static_cast<double>(own_shared_bytes(held, report.name.architecture))),
      binary_bytes(static_cast<double>(held.constant_bytes)),
      binary_bytes(static_cast<double>(held.stack_bytes + held.local_bytes)),
      report.whole.local_loads, report.whole.local_stores,
      report.whole.local_loads + report.whole.local_stores > 0
          ? " (spilled registers, arrays of a thread)"
          : "");
}

std::string unknown_text(const Mix& mix) {
  if (mix.unknown.empty()) return "";
  std::string text = "  opcodes of no known pipe:";
  for (const auto& [opcode, count] : mix.unknown) text += fmt::format(" {} ×{}", opcode, count);
  return text + '\n';
}

void write_shares(JsonWriter& json, const PipeShares& shares) {
  json.begin_object("at_best");
  json.word_member("bound", shares.bound);
  json.member("issue", *shares.issue);
  for (const Pipe pipe : kAllPipes) {
    if (shares[pipe]) json.member(name(pipe), *shares[pipe]);
  }
  json.end_object();
}

void write_flops(JsonWriter& json, std::string_view key, const FlopsByType& flops) {
  json.begin_object(key);
  for (const DType type : kAllDTypes) {
    if (flops[type] > 0) json.member(name(type), flops[type]);
  }
  json.end_object();
}

void write_counts(JsonWriter& json, std::string_view key,
                  const std::map<std::string, std::int64_t>& counts) {
  json.begin_object(key);
  for (const auto& [word, count] : counts) {
    json.foreign_key(word);
    json.number(count);
  }
  json.end_object();
}

/// Writes the members of the open object.
void write_mix(JsonWriter& json, const Mix& mix, const InspectedKernel& kernel) {
  json.member("instructions", mix.instructions);
  json.begin_object("pipes");
  for (const Pipe pipe : kAllPipes) {
    if (mix[pipe] > 0) json.member(name(pipe), mix[pipe]);
  }
  json.end_object();
  write_counts(json, "accesses", mix.accesses);
  write_flops(json, "flops", mix.flops);
  write_flops(json, "tensor_flops", mix.tensor_flops);
  json.boolean("tensor_shape_known", !mix.unknown_tensor_shape);
  json.member("special_functions", mix.special_results);
  json.member("barriers", mix.block_barriers);
  json.member("read_bytes", mix.read_bytes);
  json.member("write_bytes", mix.write_bytes);
  json.member("shared_traffic_bytes", mix.shared_bytes);
  const auto shares = kernel.gpu ? sass::shares_of(mix, *kernel.gpu) : std::nullopt;
  if (shares) write_shares(json, *shares);
}

void write_resources(JsonWriter& json, const KernelReport& report) {
  if (report.resources) {
    const sass::Resources& held = *report.resources;
    json.member("registers", held.registers);
    json.member("shared_bytes", own_shared_bytes(held, report.name.architecture));
    json.member("constant_bytes", held.constant_bytes);
    json.member("stack_bytes", held.stack_bytes);
    json.member("local_bytes", held.local_bytes);
  }
  json.member("local_loads", report.whole.local_loads);
  json.member("local_stores", report.whole.local_stores);
}

}  // namespace

std::string inspection_text(const InspectedKernel& kernel, const Style& style) {
  const KernelReport& report = kernel.report;
  std::string text =
      style.heading(visible(fmt::format("{}  {}", report.title, report.name.architecture))) + '\n' +
      resources_text(report) + unknown_text(report.whole) + '\n';
  TextTable table({{"part"},
                   {"instructions", Align::right},
                   {"pipes"},
                   {"accesses"},
                   {kernel.gpu ? fmt::format("at best, on {}", kernel.gpu->name) : "at best"}});
  const auto add = [&](std::string part, const Mix& mix) {
    table.add({std::move(part), fmt::to_string(mix.instructions), pipes_text(mix),
               accesses_text(mix), shares_text(mix, kernel)});
  };
  add("all", report.whole);
  if (!report.loops.empty()) add("outside loops", report.outside);
  for (std::size_t i = 0; i < report.loops.size(); ++i) {
    const sass::LoopReport& loop = report.loops[i];
    std::string inside = loop.parent ? fmt::format(", in {}", *loop.parent + 1) : "";
    add(fmt::format("loop {} at 0x{:x}{}", i + 1, loop.first, inside), loop.own);
  }
  return text + table.text(style, "  ");
}

void write_inspection(JsonWriter& json, const InspectedKernel& kernel) {
  const KernelReport& report = kernel.report;
  json.begin_object();
  json.member("kernel", report.title);
  json.member("symbol", report.name.symbol);
  json.member("architecture", report.name.architecture);
  if (kernel.gpu) json.member("gpu", kernel.gpu->name);
  write_resources(json, report);
  write_counts(json, "unknown_opcodes", report.whole.unknown);
  for (const auto& [key, mix] :
       {std::pair{"whole", &report.whole}, std::pair{"outside_loops", &report.outside}}) {
    json.begin_object(key);
    write_mix(json, *mix, kernel);
    json.end_object();
  }
  json.member("main_way_instructions", report.main_way);
  json.objects("loops", report.loops, [&](const sass::LoopReport& loop) {
    json.member("first_address", static_cast<std::int64_t>(loop.first));
    json.member("last_address", static_cast<std::int64_t>(loop.last));
    json.member("depth", static_cast<std::int64_t>(loop.depth));
    if (loop.parent) json.member("inside_loop", static_cast<std::int64_t>(*loop.parent));
    write_mix(json, loop.own, kernel);
  });
  json.end_object();
}

}  // namespace roofcast::cli
