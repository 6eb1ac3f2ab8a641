#include <cmath>
#include <nlohmann/json.hpp>

#include "validation/runs/json_reader.hpp"
#include "validation/runs/problem_json.hpp"
#include "validation/runs/run.hpp"

namespace roofcast::validation {
namespace {

using nlohmann::json;

constexpr int kSchemaVersion = 1;
constexpr const char* kWrittenBy =
    "restore the file from where `roofcast validate` wrote it, or delete it and measure again";

template <class T>
void put(json& object, const char* key, const std::optional<T>& value) {
  if (value) object[key] = *value;
}

json device_json(const DeviceRecord& device) {
  json out = {{"gpu", device.gpu},
              {"device", device.device},
              {"driver", device.driver},
              {"cuda_runtime", device.cuda_runtime}};
  put(out, "power_limit_w", device.power_limit_w);
  put(out, "max_sm_clock_hz", device.max_sm_clock_hz);
  put(out, "memory_clock_hz", device.memory_clock_hz);
  return out;
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
    if (const auto& value = item.counters.*field.member) counters[std::string(field.name)] = *value;
  }
  if (!counters.empty()) out["counters"] = counters;
  put(out, "sm_clock_hz", item.sm_clock_hz);
  put(out, "blocks_per_sm", item.blocks_per_sm);
  put(out, "registers", item.registers);
  put(out, "shared_bytes", item.shared_bytes);
  if (!item.baseline.empty()) {
    out["baseline"] = {{"kernel", item.baseline}, {"timing", timing_json(item.baseline_timing)}};
  }
  if (!item.prediction_json.empty()) out["prediction"] = json::parse(item.prediction_json);
  return out;
}

std::optional<double> optional_number(const JsonNode& object, std::string_view key) {
  const auto node = object.find(key);
  return node ? std::optional(node->number()) : std::nullopt;
}

std::optional<std::int64_t> optional_integer(const JsonNode& object, std::string_view key) {
  const auto node = object.find(key);
  return node ? std::optional(node->integer()) : std::nullopt;
}

DeviceRecord device_from_json(const JsonNode& node) {
  node.allow_only({"gpu", "device", "driver", "cuda_runtime", "power_limit_w", "max_sm_clock_hz",
                   "memory_clock_hz"});
  DeviceRecord device;
  device.gpu = node.at("gpu").text();
  device.device = node.at("device").text();
  device.driver = node.at("driver").text();
  device.cuda_runtime = node.at("cuda_runtime").text();
  device.power_limit_w = optional_number(node, "power_limit_w");
  device.max_sm_clock_hz = optional_number(node, "max_sm_clock_hz");
  device.memory_clock_hz = optional_number(node, "memory_clock_hz");
  return device;
}

Timing timing_from_json(const JsonNode& node) {
  node.allow_only({"samples_s", "launches_per_sample"});
  Timing timing;
  const JsonNode samples = node.at("samples_s");
  for (const JsonNode& sample : samples.items()) {
    timing.samples_s.push_back(sample.number());
    if (!(timing.samples_s.back() > 0)) sample.refuse("a time above 0 (seconds)", kWrittenBy);
  }
  if (timing.samples_s.empty()) samples.refuse("at least one sample", kWrittenBy);
  const auto launches = node.find("launches_per_sample");
  if (launches) timing.launches_per_sample = launches->integer();
  if (timing.launches_per_sample < 1) launches->refuse("a count above 0", kWrittenBy);
  return timing;
}

Counters counters_from_json(const JsonNode& node) {
  Counters counters;
  std::size_t known = 0;
  for (const CounterField& field : counter_fields()) {
    counters.*field.member = optional_number(node, field.name);
    known += (counters.*field.member).has_value() ? 1 : 0;
  }
  if (known != node.value().size()) node.refuse("counters this version knows", kWrittenBy);
  return counters;
}

Case case_from_json(const JsonNode& node) {
  node.allow_only({"kernel", "problem", "cache", "timing", "error", "counters", "sm_clock_hz",
                   "blocks_per_sm", "registers", "shared_bytes", "baseline", "prediction"});
  Case item;
  const KernelRef kernel = kernel_from_json(node.at("kernel"));
  item.kernel = kernel.kernel->name;
  item.problem = problem_from_json(kernel, node.at("problem"));
  const JsonNode cache = node.at("cache");
  const auto state = parse_cache_state(cache.text());
  if (!state) cache.refuse("\"cold\" or \"steady\"", kWrittenBy);
  item.cache = *state;
  item.timing = timing_from_json(node.at("timing"));
  item.error = node.at("error").number();
  if (const auto counters = node.find("counters")) item.counters = counters_from_json(*counters);
  item.sm_clock_hz = optional_number(node, "sm_clock_hz");
  item.blocks_per_sm = optional_integer(node, "blocks_per_sm");
  item.registers = optional_integer(node, "registers");
  item.shared_bytes = optional_integer(node, "shared_bytes");
  if (const auto baseline = node.find("baseline")) {
    baseline->allow_only({"kernel", "timing"});
    item.baseline = baseline->at("kernel").text();
    item.baseline_timing = timing_from_json(baseline->at("timing"));
  }
  if (const auto prediction = node.find("prediction")) {
    prediction->expect_object();
    item.prediction_json = prediction->value().dump();
  }
  return item;
}

Failure failure_from_json(const JsonNode& node) {
  node.allow_only({"kernel", "problem", "reason"});
  Failure failure;
  const KernelRef kernel = kernel_from_json(node.at("kernel"));
  failure.kernel = kernel.kernel->name;
  failure.problem = problem_from_json(kernel, node.at("problem"));
  failure.reason = node.at("reason").text();
  return failure;
}

}  // namespace

std::string to_json(const Run& run) {
  json out = {{"schema_version", kSchemaVersion},
              {"suite", run.suite},
              {"date", run.date},
              {"build", run.build},
              {"device", device_json(run.device)},
              {"cases", json::array()},
              {"failures", json::array()}};
  for (const Case& item : run.cases) out["cases"].push_back(case_json(item));
  for (const Failure& failure : run.failures) {
    out["failures"].push_back(
        {{"kernel", failure.kernel},
         {"problem", problem_to_json(find_kernel(failure.kernel), failure.problem)},
         {"reason", failure.reason}});
  }
  return out.dump(1) + "\n";
}

Run parse_run(const std::string& file, const std::string& text) {
  const json document = parse_json(file, text, kWrittenBy);
  const JsonNode root(file, document);
  root.expect_object();
  const auto version = root.find("schema_version");
  if (!version || !root.find("cases")) {
    root.refuse("a validation run (schema_version, suite, device, cases …)", kWrittenBy);
  }
  if (version->integer() != kSchemaVersion) {
    version->refuse("version 1", "read it with the roofcast that wrote it, or measure again");
  }
  root.allow_only({"schema_version", "suite", "date", "build", "device", "cases", "failures"});
  Run run;
  run.suite = root.at("suite").text();
  run.date = root.at("date").text();
  run.build = root.at("build").text();
  run.device = device_from_json(root.at("device"));
  for (const JsonNode& node : root.at("cases").items()) run.cases.push_back(case_from_json(node));
  if (const auto failures = root.find("failures")) {
    for (const JsonNode& node : failures->items()) run.failures.push_back(failure_from_json(node));
  }
  return run;
}

}  // namespace roofcast::validation
