#include "cli/output/kernel_file_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>
#include <numeric>
#include <vector>

namespace roofcast::cli {
namespace {

using sass::KernelReport;
using sass::Mix;
using Json = nlohmann::ordered_json;

/// Most loops with a parameter for their passes, since an expression has at most 255 characters.
/// Other loops count as one pass.
constexpr std::size_t kMostLoops = 8;

/// Which loops have a parameter: those with the most instructions, with the loops around them.
std::vector<bool> counted_loops(const KernelReport& report) {
  std::vector<std::size_t> order(report.loops.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&report](std::size_t a, std::size_t b) {
    return report.loops[a].own.instructions > report.loops[b].own.instructions;
  });
  std::vector<bool> counted(report.loops.size(), false);
  std::size_t count = 0;
  for (const std::size_t loop : order) {
    std::vector<std::size_t> added;
    for (auto at = std::optional(loop); at && !counted[*at]; at = report.loops[*at].parent) {
      added.push_back(*at);
    }
    if (count + added.size() > kMostLoops) continue;
    for (const std::size_t one : added) counted[one] = true;
    count += added.size();
  }
  return counted;
}

std::string repeats_name(std::size_t loop) {
  return fmt::format("repeats_{}", loop + 1);
}

/// Counts of a thread over all passes as expressions, "12+repeats_1*(4+repeats_2*2)".
class Totals {
 public:
  using Count = std::function<double(const Mix&)>;

  Totals(const KernelReport& report, const std::vector<bool>& counted)
      : report_(report), counted_(counted) {}

  /// The expression of a thread's count; empty where the count is 0.
  std::string of_thread(const Count& count) const {
    return text(count(report_.outside), std::nullopt, count);
  }
  std::string of_launch(const Count& count) const {
    const std::string thread = of_thread(count);
    return thread.empty() ? "" : fmt::format("blocks*threads*({})", thread);
  }
  std::string of_pass(std::size_t loop, const Count& count) const {
    return text(count(report_.loops[loop].own), loop, count);
  }

 private:
  /// The count of one pass of a loop, inner loops included; neither has a parameter.
  double once(std::size_t loop, const Count& count) const {
    double sum = count(report_.loops[loop].own);
    for (std::size_t i = 0; i < report_.loops.size(); ++i) {
      if (report_.loops[i].parent == loop) sum += once(i, count);
    }
    return sum;
  }

  std::string text(double sum, std::optional<std::size_t> around, const Count& count) const {
    std::string passes;
    for (std::size_t i = 0; i < report_.loops.size(); ++i) {
      if (report_.loops[i].parent != around) continue;
      if (!counted_[i]) {
        sum += once(i, count);
      } else if (const std::string pass = of_pass(i, count); !pass.empty()) {
        passes += fmt::format("+{}*{}", repeats_name(i),
                              pass.find('+') == std::string::npos ? pass : "(" + pass + ")");
      }
    }
    if (sum > 0) return fmt::format("{}{}", sum, passes);
    return passes.empty() ? "" : passes.substr(1);
  }

  const KernelReport& report_;
  const std::vector<bool>& counted_;
};

/// A kernel's name in forecasts: the function's without namespaces, arguments and template
/// arguments, at most 64 of the characters that a name may have.
std::string short_name(const std::string& title) {
  std::string text = title.substr(0, title.find_first_of("<("));
  text = text.substr(text.find_last_of(": ") + 1);  // npos + 1 is 0
  const auto is_other = [](char c) {
    return !((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
             c == '_' || c == '.' || c == '-');
  };
  text.erase(std::remove_if(text.begin(), text.end(), is_other), text.end());
  constexpr std::size_t most = 64;
  return text.empty() ? "kernel" : text.substr(0, most);
}

Json parameter(std::string meaning) {
  return {{"meaning", std::move(meaning)}};
}

Json parameters_of(const KernelReport& report, const std::vector<bool>& counted,
                   std::int64_t shared_bytes) {
  const Mix& whole = report.whole;
  Json parameters = {{"blocks", parameter("blocks of the grid")},
                     {"threads", parameter("threads of a block")}};
  if (whole.uses_shared) {
    parameters["shared_bytes"] = {
        {"default", std::max<std::int64_t>(shared_bytes, 1)},
        {"meaning",
         fmt::format("shared memory of a block, {} B static and the dynamic (B)", shared_bytes)}};
  }
  if (whole.reads_global) {
    parameters["read_bytes"] = parameter("read from global memory, each byte once (B)");
  }
  if (whole.writes_global) {
    parameters["write_bytes"] = parameter("written to global memory (B)");
  }
  if (whole.unknown_tensor_shape) {
    parameters["tensor_flops"] = parameter(
        "FLOP of the matrix products whose shapes stand in descriptors, of the whole launch");
  }
  for (std::size_t i = 0; i < report.loops.size(); ++i) {
    if (!counted[i]) continue;
    const sass::LoopReport& loop = report.loops[i];
    parameters[repeats_name(i)] = parameter(fmt::format(
        "passes of the loop at 0x{:x} ({} instructions){}", loop.first, loop.own.instructions,
        loop.parent ? fmt::format(", each time that loop {} passes", *loop.parent + 1) : ""));
  }
  return parameters;
}

/// The type with the most FLOPs: the kernel file gets only one for the SIMT pipes.
std::optional<DType> most_flops(const FlopsByType& flops) {
  std::optional<DType> most;
  for (const DType type : kAllDTypes) {
    if (flops[type] > 0 && (!most || flops[type] > flops[*most])) most = type;
  }
  return most;
}

Json tensor_work(const KernelReport& report, const Totals& totals) {
  Json flops = Json::object();
  for (const DType type : kAllDTypes) {
    const std::string known =
        totals.of_launch([type](const Mix& mix) { return mix.tensor_flops[type]; });
    if (!known.empty()) flops[std::string(name(type))] = known;
  }
  if (report.whole.unknown_tensor_shape) {
    const std::string type(name(report.whole.unknown_tensor_type));
    flops[type] = flops.contains(type) ? flops[type].get<std::string>() + "+tensor_flops"
                                       : std::string("tensor_flops");
  }
  return flops;
}

Json work_of(const KernelReport& report, const Totals& totals) {
  Json work = Json::object();
  const auto put = [&work](const char* key, std::string text) {
    if (!text.empty()) work[key] = std::move(text);
  };
  if (const auto type = most_flops(report.whole.flops)) {
    work["flops"] = {{std::string(name(*type)),
                      totals.of_launch([type](const Mix& mix) { return mix.flops[*type]; })}};
  }
  Json tensor = tensor_work(report, totals);
  if (!tensor.empty()) work["tensor_flops"] = std::move(tensor);
  put("special_functions",
      totals.of_launch([](const Mix& mix) { return static_cast<double>(mix.special_results); }));
  put("instructions",
      totals.of_launch([](const Mix& mix) { return static_cast<double>(mix.instructions); }));
  if (report.whole.reads_global) work["read_bytes"] = "read_bytes";
  if (report.whole.writes_global) work["write_bytes"] = "write_bytes";
  put("shared_traffic_bytes", totals.of_launch([](const Mix& mix) { return mix.shared_bytes; }));
  if (report.whole.reads_global && !report.whole.copies_in_bulk) {
    put("l1_read_bytes", totals.of_launch([](const Mix& mix) { return mix.read_bytes; }));
  }
  return work;
}

/// The outermost loop with the most instructions, those of its inner loops included.
std::optional<std::size_t> main_loop(const KernelReport& report, const std::vector<bool>& counted) {
  std::vector<std::int64_t> instructions(report.loops.size(), 0);
  std::optional<std::size_t> most;
  for (std::size_t i = 0; i < report.loops.size(); ++i) {
    std::size_t outermost = i;
    while (report.loops[outermost].parent) outermost = *report.loops[outermost].parent;
    instructions[outermost] += report.loops[i].own.instructions;
  }
  for (std::size_t i = 0; i < report.loops.size(); ++i) {
    if (counted[i] && instructions[i] > 0 && (!most || instructions[i] > instructions[*most])) {
      most = i;
    }
  }
  return most;
}

Json phases_of(std::size_t loop, const Totals& totals) {
  Json phase = {{"share", 1}, {"repeats", repeats_name(loop)}};
  const std::string barriers =
      totals.of_pass(loop, [](const Mix& mix) { return static_cast<double>(mix.block_barriers); });
  if (!barriers.empty()) phase["barriers"] = barriers;
  return Json::array({phase});
}

}  // namespace

std::string kernel_file_text(const KernelReport& report, std::string_view source) {
  const std::vector<bool> counted = counted_loops(report);
  const Totals totals(report, counted);
  const sass::Resources held = report.resources.value_or(sass::Resources{});
  const std::int64_t shared_bytes = own_shared_bytes(held, report.name.architecture);
  constexpr std::size_t most_title = 400;
  Json file = {{"name", short_name(report.title)},
               {"summary", fmt::format("{}, counted in the code for {} in {}",
                                       report.title.substr(0, most_title), report.name.architecture,
                                       source.substr(0, most_title))}};
  const auto type = most_flops(report.whole.flops);
  if (type) file["dtypes"] = {name(*type)};
  file["parameters"] = parameters_of(report, counted, shared_bytes);
  file["launch"] = {{"grid", "blocks"},
                    {"threads", "threads"},
                    {"registers", std::clamp<std::int64_t>(held.registers, 1, 255)}};
  if (report.whole.uses_shared) file["launch"]["shared_bytes"] = "shared_bytes";
  file["work"] = work_of(report, totals);
  if (const auto loop = main_loop(report, counted)) file["phases"] = phases_of(*loop, totals);
  return file.dump(2, ' ', false, Json::error_handler_t::replace) + '\n';
}

}  // namespace roofcast::cli
