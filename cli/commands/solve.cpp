#include <fmt/format.h>

#include <algorithm>

#include "cli/commands/fastest_settings.hpp"
#include "cli/commands/opening.hpp"
#include "cli/input/condition.hpp"
#include "cli/input/device.hpp"
#include "cli/input/kernel_options.hpp"
#include "cli/input/value_search.hpp"
#include "cli/output/json_or_text.hpp"
#include "cli/output/same_forecast.hpp"
#include "cli/output/signals.hpp"
#include "cli/output/solution_output.hpp"
#include "hw_specs/overrides.hpp"
#include "validation/runs/numbers.hpp"

namespace roofcast::cli {

Manual manual_solve() {
  return {
      .examples =
          "  roofcast solve gemm.library --n 4096 --k 4096 --dtype bf16 --gpu h100-sxm5 --find "
          "m=1:1024 --until bound=tensor\n"
          "  roofcast solve stream.copy --n 67108864 --gpu h200-sxm --find sm_count=16:132 --until "
          "'time<=200us'\n"
          "  roofcast solve gemm.tiled --m 1000 --n 1000 --k 1000 --gpu a100-sxm4-80gb --minimize "
          "time --vary tile_m,tile_n,tile_k\n"
          "  roofcast solve model llama-3.1-70b --decode --batch 64 --context 8192 --gpu h100-sxm5 "
          "--find tp=1,2,4,8 --until 'time_per_token<=20ms'\n",
      .usage =
          "roofcast solve KERNEL --find KEY[=from:to] --until CONDITION [options]\n"
          "       roofcast solve KERNEL --minimize time --vary PARAMETER,… [options]\n"
          "       roofcast solve model CONFIG --find KEY=VALUES --until CONDITION [options]",
      .about =
          R"(For which values of KEY the forecast fulfils the condition: a parameter of the kernel,
or a value of the specification as --set takes it. Of up to 1024 values (256 of a
specification) each is forecast. Of more, as many in equal ratios, and where the answer
changes between two of them the place is found by bisection. A value of the
specification that changes no forecast is refused. --minimize forecasts every
combination of the parameters varied: powers of two, names, or the values given as in a
sweep (--tile_m 32:256:32).)",
      .options = with_forecast_options(
          {{"find", "KEY[=from:to]",
            "the unknown: a parameter, or a specification's value as in --set, which without a "
            "range is looked for from a sixteenth to sixteen times of what it is"},
           {"until", "CONDITION",
            "time<=50us, limit<=50us, rate>=500TFLOP/s, bandwidth>=2TB/s, fraction_of_limit>=0.9, "
            "bound=dram or bound!=dram"},
           {"minimize", "time", "find the settings with the least expected time"},
           {"vary", "LIST", "the parameters that --minimize varies"},
           {"gpu", "NAME|PATH", "the device", true},
           {"dtype", "TYPE", "element type: fp64, fp32, tf32, fp16, bf16 … (default: fp32)"},
           {"format", "table|json",
            "output format (default: as the output's name ends, else table)"},
           {"output,o", "FILE", "write there instead of standard output"},
           {"help,h", "", "this text"}})};
}

namespace {

constexpr std::string_view kFind = "--find";
constexpr std::int64_t kMostOfParameter = 1024;
/// Fewer values of a specification's key: the specification is validated again for each value.
constexpr std::int64_t kMostOfSpecification = 256;

std::string required(const Options& options, std::string_view option) {
  if (const auto text = options.find(option)) return *text;
  throw UsageError(
      "solve needs --{}, or --minimize time --vary PARAMETER. For example: roofcast solve "
      "stream.copy --n 67108864 --gpu h200-sxm --find sm_count=16:132 --until 'time<=200us'",
      option);
}

bool is_parameter(const KernelRef& kernel, const Unknown& unknown, const Options& options) {
  for (const Parameter& parameter : kernel.parameters()) {
    if (parameter.name != unknown.name()) continue;
    if (options.has(parameter.name)) {
      throw UsageError("--find looks for {0}: leave out --{0}", parameter.name);
    }
    if (is_named(parameter)) {
      throw UsageError("{} is no number: --find takes none", parameter.name);
    }
    if (unknown.whole()) return true;
    throw UsageError("{} takes whole numbers: --find {}=1:1024", parameter.name, parameter.name);
  }
  return false;
}

Point answer(std::int64_t position, const Condition& condition,
             const std::function<Prediction()>& forecast) {
  stop_if_interrupted();
  Point point{position, false, std::nullopt, {}};
  try {
    point.prediction = forecast();
  } catch (const InputError& error) {
    point.refusal = error.what();
    return point;
  }
  point.holds = holds(condition, *point.prediction);
  return point;
}

Solution solve_parameter(const KernelRef& kernel, const Unknown& unknown,
                         const Condition& condition, const Options& options) {
  const Assumptions assumptions = read_assumptions(options);
  const Gpu gpu = read_device(options);
  Options asked = options;
  return find_values(unknown, kMostOfParameter, [&](std::int64_t position) {
    asked.add(unknown.name(), {unknown.at(position)});
    return answer(position, condition,
                  [&] { return predict(kernel, read_problem(asked, kernel), gpu, assumptions); });
  });
}

Solution solve_specification(const KernelRef& kernel, const Unknown& unknown,
                             const Condition& condition, const Options& options) {
  const Assumptions assumptions = read_assumptions(options);
  const std::string name = read_device_name(options);
  const Problem problem = read_problem(options, kernel);
  const specs::Source source = device_source(name, read_device_options(options));
  const specs::Loader loader(source);
  std::vector<specs::Override> overrides = source.overrides;
  const std::string leaf = specs::leaf_named({unknown.name(), {}, kFind});
  for (const specs::Override& set : overrides) {
    if (specs::leaf_named(set) == leaf) {
      throw UsageError("--find looks for {}: leave out --set {}", unknown.name(), set.key);
    }
  }
  overrides.push_back({unknown.name(), {}, kFind});
  std::optional<Prediction> first;
  bool read = false;
  Solution solution = find_values(unknown, kMostOfSpecification, [&](std::int64_t position) {
    overrides.back().value = unknown.at(position);
    Point point = answer(position, condition, [&] {
      return predict(kernel, problem, loader.load(overrides), assumptions);
    });
    if (!first) first = point.prediction;
    read = read || !point.prediction || !same_forecast(*first, *point.prediction);
    return point;
  });
  if (read) return solution;
  throw InputError(
      fmt::format("no law of this forecast reads {}: from {} to {} no time, limit or term changes. "
                  "`roofcast show {}` lists the values that it has",
                  unknown.name(), unknown.at(0), unknown.at(unknown.last()), name));
}

/// Whether the key is a parameter of the kernel. InputError where it is no value of a specification
/// either.
bool names_parameter(const KernelRef& kernel, const specs::Override& asked) {
  const std::vector<std::string> parameters = parameter_names({&kernel, 1});
  if (std::find(parameters.begin(), parameters.end(), asked.key) != parameters.end()) return true;
  try {
    (void)specs::leaf_named(asked);
  } catch (const specs::SpecError& error) {
    throw InputError(fmt::format("{} Or name a parameter of {}: {}", error.what(), kernel.name(),
                                 fmt::join(parameters, ", ")));
  }
  return false;
}

// A KEY without a range is a value of the specification; its range lies around the GPU's own value.
Unknown read_unknown(const KernelRef& kernel, const Options& options) {
  const std::string text = required(options, "find");
  if (const std::size_t equals = text.find('='); equals != std::string::npos) {
    Unknown unknown = Unknown::parse(text);
    (void)names_parameter(kernel, {unknown.name(), text.substr(equals + 1), kFind});
    return unknown;
  }
  if (names_parameter(kernel, {text, {}, kFind})) {
    throw UsageError("--find {0} needs its range: --find {0}=1:65536", text);
  }
  const specs::SourcedValue value = specs::value_named(
      device_source(read_device_name(options), read_device_options(options)), {text, {}, kFind});
  const auto number = validation::number_of<double>(value.value);
  if (number && *number > 0) return Unknown::around(text, *number);
  throw UsageError("{} is {}: --find takes a number above 0", text, value.value);
}

void answer_find(const KernelRef& kernel, const Options& options) {
  const Unknown unknown = read_unknown(kernel, options);
  const Condition condition = parse_condition(required(options, "until"));
  const Solution solution = is_parameter(kernel, unknown, options)
                                ? solve_parameter(kernel, unknown, condition, options)
                                : solve_specification(kernel, unknown, condition, options);
  write_json_or_text(
      options, [&](JsonWriter& json) { write_json(json, solution, unknown, condition); },
      [&](const Style&) { return solution_text(solution, unknown, condition); });
}

void answer_minimize(const KernelRef& kernel, const Options& options) {
  if (options.get("minimize", "") != "time") throw UsageError("--minimize takes time");
  for (const std::string_view other : {"find", "until"}) {
    if (options.has(other)) throw UsageError("--{} goes without --minimize", other);
  }
  const Gpu gpu = read_device(options);
  const FastestSettings fastest = fastest_settings(kernel, gpu, options);
  write_json_or_text(
      options, [&](JsonWriter& json) { write_json(json, fastest); },
      [&](const Style& style) { return fastest_text(fastest, style); });
}

}  // namespace

ExitCode run_solve(const Arguments& arguments) {
  if (!arguments.empty() && arguments.front() == "model") {
    return run_solve_model(Arguments(arguments.begin() + 1, arguments.end()));
  }
  const auto [kernels, options] = read_kernels(arguments, manual_solve());
  if (kernels.size() != 1)
    throw UsageError("solve takes one kernel: `roofcast kernels` lists them");
  if (options.has("minimize")) {
    answer_minimize(kernels.front(), options);
  } else {
    answer_find(kernels.front(), options);
  }
  return ExitCode::done;
}

}  // namespace roofcast::cli
