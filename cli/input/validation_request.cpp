#include "cli/input/validation_request.hpp"

#include <fmt/format.h>

#include <cstdlib>

#include "cli/input/device.hpp"
#include "cli/output/files.hpp"

namespace roofcast::cli {
namespace {

constexpr HelpPage kHelp = {
    "  roofcast validate --suite default -o run.json\n"
    "  roofcast validate --suite gemm --shard 0/4 -o shard0.json\n"
    "  roofcast validate --suite quick --no-counters -o quick.json\n",
    "roofcast validate [options]",
    "Measures a suite's kernels on this machine's GPU and writes the run case by case. Started "
    "again\n"
    "with the same file, it goes on where it stopped. In a Slurm job array each task takes its\n"
    "shard; `roofcast merge` joins them."};

constexpr std::string_view kDefaultSuite = "default";

std::vector<Option> option_table() {
  std::vector<Option> options = {
      {"suite", "NAME|FILE", "what to measure (default: default)"},
      {"output,o", "FILE", "the run file (default: run.json)"},
      {"shard", "I/N", "only part I of N, from 0 (default: the Slurm array's task)"},
      {"no-counters", "", "time only: read no hardware counters"},
      {"gpu", "NAME|PATH", "the specification (default: the one that fits the device)"},
      {"help,h", "", "this text"}};
  for (auto& option : device_option_table()) options.push_back(std::move(option));
  return options;
}

validation::Suite read_suite(const std::string& name) {
  if (name.ends_with(".json")) return validation::parse_suite(name, read_file(name));
  return validation::find_suite(name);
}

validation::Shard read_shard(const Options& options) {
  if (const auto text = options.find("shard")) return validation::parse_shard(*text);
  return validation::slurm_shard([](const char* name) { return std::getenv(name); })
      .value_or(validation::Shard{});
}

}  // namespace

std::optional<ValidationRequest> read_validation_request(const Arguments& arguments) {
  const std::vector<Option> known = option_table();
  if (wants_help(arguments)) {
    write_output(std::nullopt, help_text(kHelp, known));
    return std::nullopt;
  }
  const SplitArguments split = split_words(arguments, known);
  ValidationRequest request;
  request.options = parse_options(split.options, known);
  if (!split.words.empty()) {
    throw UsageError(fmt::format("'{}' stands alone: name a suite with --suite", split.words[0]));
  }
  request.suite = read_suite(request.options.get("suite", kDefaultSuite));
  request.shard = read_shard(request.options);
  request.output = request.options.get("output", "run.json");
  return request;
}

}  // namespace roofcast::cli
