#include "cli/input/validation_request.hpp"

#include <fmt/format.h>

#include "cli/commands/opening.hpp"
#include "cli/input/device.hpp"
#include "cli/input/shard_option.hpp"
#include "cli/output/case_lines.hpp"
#include "cli/output/files.hpp"

namespace roofcast::cli {

Manual manual_validate() {
  return {.examples =
              "  roofcast validate --suite default -o run.json\n"
              "  roofcast validate --suite random --seed 7 --cases 600 -o random.json\n"
              "  roofcast validate --suite gemm --shard 0/4 -o shard0.json\n"
              "  roofcast validate --suite quick --no-counters -o quick.json\n"
              "  roofcast validate --suite random --seed 7 --gpu h100-sxm5 --list\n",
          .usage = "roofcast validate [options]",
          .about =
              R"(Measures a suite's kernels on this machine's GPU and writes the run case by case.
Started again with the same file, it goes on where it stopped. In a Slurm job array
each task takes its shard; `roofcast merge` joins them. The suite `random` draws its
cases anew for each seed: what no one chose tells how good a forecast is.)",
          .options = with_device_options(
              {{"suite", "NAME|FILE", "what to measure (default: default)"},
               {"seed", "S", "of a suite that is drawn (random): the same cases for the same seed"},
               {"cases", "N", "of a suite that is drawn: how many (default: 600)"},
               {"list", "",
                "only print the cases, as queries for `roofcast predict --queries`; needs no GPU"},
               {"output,o", "FILE", "the run file (default: run.json)"},
               shard_option(),
               {"no-counters", "", "time only: read no hardware counters"},
               {"gpu", "NAME|PATH", "the specification (default: the one that fits the device)"},
               {"help,h", "", "this text"}})};
}

namespace {

constexpr std::string_view kDefaultSuite = "default";
constexpr std::int64_t kDefaultCases = 600;

/// A whole number from `least` to `most`.
std::int64_t read_count(const Options& options, std::string_view name, std::int64_t least,
                        std::int64_t most) {
  const std::string option = fmt::format("--{}", name);
  const std::int64_t value = parse_whole(option, options.get(name, ""));
  if (value >= least && value <= most) return value;
  throw UsageError("{} is {}: give a whole number from {} to {}", option, value, least, most);
}

std::variant<validation::Suite, DrawRequest> read_suite(const Options& options) {
  const std::string name = options.get("suite", kDefaultSuite);
  std::string file = name;
  std::string text;
  if (name.ends_with(".json")) {
    text = read_file(name);
  } else {
    text = validation::embedded_suite(name).text;
    file += ".json";
  }
  if (!validation::is_random_suite(file, text)) {
    for (const std::string_view only : {"seed", "cases"}) {
      if (options.has(only)) {
        throw UsageError(
            "--{} is for suites that are drawn, and '{}' is not: leave it out, or give --suite "
            "random",
            only, name);
      }
    }
    return validation::parse_suite(file, text);
  }
  if (!options.has("seed")) {
    throw UsageError("suite '{}' is drawn: choose a seed, as in --seed 7", name);
  }
  constexpr std::int64_t kMostSeed = std::int64_t{1} << 53;  // what any JSON reader keeps exactly
  const std::int64_t cases =
      options.has("cases")
          ? read_count(options, "cases", 1, static_cast<std::int64_t>(validation::kMostCases))
          : kDefaultCases;
  return DrawRequest{validation::parse_random_suite(file, text),
                     read_count(options, "seed", 0, kMostSeed), static_cast<std::size_t>(cases)};
}

/// The cases of the shard, one per line. UsageError for a random suite without --gpu.
std::string list(const ValidationRequest& request) {
  const auto* const fixed = std::get_if<validation::Suite>(&request.suite);
  if (!request.options.has("gpu") && fixed == nullptr) {
    throw UsageError("the cases are drawn for a GPU: name it, as in --gpu h100-sxm5");
  }
  if (!request.options.has("gpu")) return case_lines(*fixed, request.shard, "");
  const Gpu gpu = read_device(request.options);
  return case_lines(request.suite_for(gpu), request.shard, gpu.name);
}

}  // namespace

validation::Suite ValidationRequest::suite_for(const Gpu& gpu) const {
  if (const auto* const fixed = std::get_if<validation::Suite>(&suite)) return *fixed;
  const auto& draw = std::get<DrawRequest>(suite);
  return validation::draw_suite(draw.suite, draw.seed, draw.cases, gpu);
}

std::optional<ValidationRequest> read_validation_request(const Arguments& arguments) {
  auto [words, options] = read_arguments(arguments, manual_validate());
  if (!words.empty()) {
    throw UsageError("'{}' stands alone: name a suite with --suite", words[0]);
  }
  ValidationRequest request;
  request.options = std::move(options);
  request.suite = read_suite(request.options);
  request.shard = read_shard(request.options);
  request.output = request.options.get("output", "run.json");
  if (request.options.has("list")) {
    write_output(request.options.find("output"), list(request));
    return std::nullopt;
  }
  return request;
}

}  // namespace roofcast::cli
