#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

#include "hw_specs/checked_json.hpp"
#include "hw_specs/rules.hpp"
#include "hw_specs/source_rules.hpp"
#include "hw_specs/text_file.hpp"
#include "model/predict.hpp"
#include "validation/runs/device_json.hpp"
#include "validation/runs/problem_json.hpp"
#include "validation/runs/run.hpp"

namespace roofcast::validation {
namespace {

using nlohmann::json;

constexpr int kSchemaVersion = 1;
constexpr const char* kWrittenBy =
    "restore the file from where `roofcast validate` wrote it, or delete it and measure again";

// Bounds that no valid run exceeds; they refuse damaged files.
constexpr double kMostHz = 1e11;
constexpr double kMostSeconds = 1e5;
constexpr double kMostCounted = 1e18;
constexpr std::int64_t kMostLaunches = 1'000'000;
constexpr std::int64_t kMostBlocksPerSm = 1024;
constexpr std::int64_t kMostRegisters = 255;
constexpr std::int64_t kMostSharedBytes = std::int64_t{1} << 30;
constexpr std::int64_t kMostPositions = 10'000'000;

template <class Json, class T>
void put(Json& object, std::string_view key, const std::optional<T>& value) {
  if (value) object[std::string(key)] = *value;
}

json timing_json(const Timing& timing) {
  return {{"samples_s", timing.samples_s}, {"launches_per_sample", timing.launches_per_sample}};
}

json case_json(const Case& item) {
  json out = {{"kernel", item.kernel},
              {"problem", problem_to_json(find_kernel(item.kernel), item.problem)},
              {"cache", name(item.cache)},
              {"timing", timing_json(item.timing)},
              {"error", item.error}};
  json counters = json::object();
  for (const CounterField& field : counter_fields()) {
    put(counters, field.name, item.counters.*field.member);
  }
  if (!counters.empty()) out["counters"] = counters;
  put(out, "sm_clock_hz", item.sm_clock_hz);
  put(out, "blocks_per_sm", item.blocks_per_sm);
  put(out, "registers", item.registers);
  put(out, "shared_bytes", item.shared_bytes);
  put(out, "position", item.position);
  if (!item.baseline.empty()) {
    out["baseline"] = {{"kernel", item.baseline}, {"timing", timing_json(item.baseline_timing)}};
  }
  if (!item.prediction_json.empty()) out["prediction"] = json::parse(item.prediction_json);
  return out;
}

json failure_json(const Failure& failure) {
  json out = {{"kernel", failure.kernel},
              {"problem", problem_to_json(find_kernel(failure.kernel), failure.problem)},
              {"reason", failure.reason}};
  put(out, "position", failure.position);
  return out;
}

std::optional<double> optional_positive(const JsonNode& object, std::string_view key, double most) {
  const auto node = object.find(key);
  return node ? std::optional(node->positive(most)) : std::nullopt;
}

std::optional<std::int64_t> optional_integer(const JsonNode& object, std::string_view key,
                                             std::int64_t least, std::int64_t most) {
  const auto node = object.find(key);
  return node ? std::optional(node->integer(least, most)) : std::nullopt;
}

Timing timing_from_json(const JsonNode& node) {
  node.allow_only({"samples_s", "launches_per_sample"});
  Timing timing;
  const JsonNode samples = node.at("samples_s");
  for (const JsonNode& sample : samples.items()) {
    timing.samples_s.push_back(sample.positive(kMostSeconds));
  }
  if (timing.samples_s.empty()) samples.refuse("at least one sample", kWrittenBy);
  timing.launches_per_sample =
      optional_integer(node, "launches_per_sample", 1, kMostLaunches).value_or(1);
  return timing;
}

Counters counters_from_json(const JsonNode& node) {
  Counters counters;
  std::size_t known = 0;
  for (const CounterField& field : counter_fields()) {
    const auto found = node.find(field.name);
    if (!found) continue;
    counters.*field.member = found->not_negative(kMostCounted);
    ++known;
  }
  if (known != node.value().size()) node.refuse("counters this version knows", kWrittenBy);
  return counters;
}

// Kept as text for the record; nothing reads its values.
std::string prediction_from_json(const JsonNode& node) {
  node.allow_only({"limit_s", "dram_bytes", "l2_bytes", "vector_flops", "expected_s", "low_s",
                   "high_s", "bound", "blocks_per_sm", "waves"});
  for (const auto& [key, value] : node.value().items()) {
    if (key == "bound") {
      (void)node.at(key).text();
    } else {
      (void)node.at(key).not_negative(kMostCounted);
    }
  }
  return node.value().dump();
}

Case case_from_json(const JsonNode& node) {
  node.allow_only({"kernel", "problem", "cache", "timing", "error", "counters", "sm_clock_hz",
                   "blocks_per_sm", "registers", "shared_bytes", "baseline", "prediction",
                   "position"});
  Case item;
  const KernelRef kernel = kernel_from_json(node.at("kernel"));
  item.kernel = kernel.kernel->name;
  item.problem = without_own_choice(kernel, problem_from_json(kernel, node.at("problem")));
  const JsonNode cache = node.at("cache");
  const auto state = parse_cache_state(cache.text());
  if (!state) cache.refuse(cache_state_names(), kWrittenBy);
  item.cache = *state;
  item.timing = timing_from_json(node.at("timing"));
  item.error = node.at("error").not_negative(kMostCounted);
  if (const auto counters = node.find("counters")) item.counters = counters_from_json(*counters);
  item.sm_clock_hz = optional_positive(node, "sm_clock_hz", kMostHz);
  item.blocks_per_sm = optional_integer(node, "blocks_per_sm", 1, kMostBlocksPerSm);
  item.registers = optional_integer(node, "registers", 0, kMostRegisters);
  item.shared_bytes = optional_integer(node, "shared_bytes", 0, kMostSharedBytes);
  item.position = optional_integer(node, "position", 0, kMostPositions);
  if (const auto baseline = node.find("baseline")) {
    baseline->allow_only({"kernel", "timing"});
    item.baseline = baseline->at("kernel").text();
    item.baseline_timing = timing_from_json(baseline->at("timing"));
  }
  if (const auto prediction = node.find("prediction")) {
    item.prediction_json = prediction_from_json(*prediction);
  }
  return item;
}

Failure failure_from_json(const JsonNode& node) {
  node.allow_only({"kernel", "problem", "reason", "position"});
  Failure failure;
  const KernelRef kernel = kernel_from_json(node.at("kernel"));
  failure.kernel = kernel.kernel->name;
  failure.problem = without_own_choice(kernel, problem_from_json(kernel, node.at("problem")));
  failure.reason = node.at("reason").text();
  failure.position = optional_integer(node, "position", 0, kMostPositions);
  return failure;
}

Shard shard_from_json(const JsonNode& node) {
  node.allow_only({"index", "count"});
  const std::int64_t count = node.at("count").integer(1, kMostPositions);
  const std::int64_t index = node.at("index").integer(0, count - 1);
  return {static_cast<std::size_t>(index), static_cast<std::size_t>(count)};
}

/// Checks that each position of a run is in the suite, of the run's shard, and present once.
class Positions {
 public:
  explicit Positions(const Run& run) : run_(run) {}

  void see(const JsonNode& node, const std::optional<std::int64_t>& position) {
    if (!position) {
      if (!run_.shard.is_whole()) (void)node.at("position");
      return;
    }
    const JsonNode where = node.at("position");
    if (run_.suite_cases && *position >= *run_.suite_cases) {
      where.refuse("a position in the suite, below suite_cases", kWrittenBy);
    }
    if (!run_.shard.holds(static_cast<std::size_t>(*position))) {
      where.refuse("a position of shard " + text_of(run_.shard), kWrittenBy);
    }
    seen_.push_back(*position);
  }

  void expect_each_once(const JsonNode& root) {
    std::sort(seen_.begin(), seen_.end());
    const auto twice = std::adjacent_find(seen_.begin(), seen_.end());
    if (twice != seen_.end()) {
      root.at("cases").refuse("each position of the suite once, twice " + std::to_string(*twice),
                              kWrittenBy);
    }
  }

 private:
  const Run& run_;
  std::vector<std::int64_t> seen_;
};

// An array with an element a line.
template <class Element>
std::string lines_of(const std::vector<Element>& elements, json (*to_json)(const Element&)) {
  std::string text = "[";
  for (const Element& element : elements) {
    text += text.size() > 1 ? ",\n" : "\n";
    text += to_json(element).dump();
  }
  return text + (elements.empty() ? "]" : "\n]");
}

}  // namespace

std::string to_json(const Run& run) {
  json out = {{"schema_version", kSchemaVersion},
              {"suite", run.suite},
              {"date", run.date},
              {"build", run.build},
              {"device", json(device_json(run.device))}};
  put(out, "seed", run.seed);
  put(out, "suite_cases", run.suite_cases);
  if (!run.shard.is_whole()) {
    out["shard"] = {{"index", run.shard.index}, {"count", run.shard.count}};
  }
  std::string text = out.dump();
  text.pop_back();  // the closing brace
  return text + ",\"cases\":" + lines_of(run.cases, case_json) +
         ",\"failures\":" + lines_of(run.failures, failure_json) + "}\n";
}

Run parse_run(const std::string& file, const std::string& text) {
  const json document = specs::parse_checked(file, text, {specs::kMostFileBytes, kWrittenBy});
  const JsonNode root(file, document);
  root.expect_object();
  const auto version = root.find("schema_version");
  if (!version || !root.find("cases")) {
    root.refuse("a validation run (schema_version, suite, device, cases …)", kWrittenBy);
  }
  if (version->integer() != kSchemaVersion) {
    version->refuse("version 1", "read it with the roofcast that wrote it, or measure again");
  }
  root.allow_only({"schema_version", "suite", "seed", "suite_cases", "shard", "date", "build",
                   "device", "cases", "failures"});
  Run run;
  run.suite = root.at("suite").text();
  run.seed = optional_integer(root, "seed", 0, std::numeric_limits<std::int64_t>::max());
  run.suite_cases = optional_integer(root, "suite_cases", 1, kMostPositions);
  if (const auto shard = root.find("shard")) {
    run.shard = shard_from_json(*shard);
    if (!run.suite_cases) (void)root.at("suite_cases");
  }
  run.date = root.at("date").text();
  if (!specs::starts_with_date(run.date)) {
    root.at("date").refuse("the time of the run", "write it as 2026-01-31T12:00:00Z");
  }
  run.build = root.at("build").text();
  run.device = device_from_json(root.at("device"));
  Positions positions(run);
  for (const JsonNode& node : root.at("cases").items()) {
    run.cases.push_back(case_from_json(node));
    positions.see(node, run.cases.back().position);
  }
  if (const auto failures = root.find("failures")) {
    for (const JsonNode& node : failures->items()) {
      run.failures.push_back(failure_from_json(node));
      positions.see(node, run.failures.back().position);
    }
  }
  positions.expect_each_once(root);
  return run;
}

}  // namespace roofcast::validation
