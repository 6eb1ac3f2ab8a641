#include "cli/input/service.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "cli/input/numbers.hpp"
#include "cli/input/sweep_axis.hpp"
#include "model/types/problem.hpp"

namespace roofcast::cli {
namespace {

using transformer::Service;

// Options of a step that a service refuses.
constexpr std::array<std::string_view, 20> kOfSteps = {
    "train",   "prefill", "decode", "batch",     "seq",      "context",       "grad-accum",
    "dp",      "fsdp",    "pp",     "framework", "logits",   "checkpointing", "optimizer",
    "network", "trace",   "shard",  "dropout",   "prefetch", "host-launch"};

std::int64_t expect_count(std::string_view name, std::int64_t value) {
  constexpr std::int64_t kMost = 1 << 20;
  if (value >= 1 && value <= kMost) return value;
  throw InputError(fmt::format("'{}' is 1 to {}, found {}", name, kMost, value));
}

std::int64_t count_of(const Options& options, std::string_view name,
                      std::optional<std::string> fallback = {}) {
  const auto text = options.find(name);
  if (!text && !fallback) throw UsageError("--serve needs --{} N", name);
  return expect_count(name, parse_whole(fmt::format("--{}", name), text ? *text : *fallback));
}

}  // namespace

std::vector<Option> service_options() {
  return {{"serve", "", "continuous batching: requests that follow one another"},
          {"concurrency", "VALUES", "--serve: requests at a time"},
          {"input-tokens", "N", "--serve: of a prompt"},
          {"output-tokens", "N", "--serve: of an answer"},
          {"prompts", "spread|together",
           "--serve: computed between the steps of other requests (default), or all before "
           "decoding goes on"}};
}

std::vector<Service> read_services(const Options& options) {
  for (const std::string_view name : kOfSteps) {
    if (options.has(name)) {
      throw UsageError("--{} belongs to a step: leave it out with --serve", name);
    }
  }
  Service service;
  service.input = count_of(options, "input-tokens");
  service.output = count_of(options, "output-tokens");
  service.tp = count_of(options, "tp", "1");
  service.ep = count_of(options, "ep", "1");
  const std::string type = options.get("dtype", "bf16");
  const auto dtype = parse_dtype(type);
  if (!dtype) throw InputError(fmt::format("no type is named '{}': 'dtype' is bf16 or fp8", type));
  service.dtype = *dtype;
  service.routing = static_cast<transformer::Routing>(
      place_of("--routing", options.get("routing", "as_trained"), transformer::kRoutings));
  service.prompts = static_cast<transformer::Prompts>(
      place_of("--prompts", options.get("prompts", "spread"), transformer::kPrompts));
  std::vector<Service> services;
  if (!options.has("concurrency")) throw UsageError("--serve needs --concurrency N");
  const Axis concurrency = parse_axis("concurrency", options.get("concurrency", ""));
  resolve_ties({&concurrency, 1});
  for (const std::int64_t value : concurrency.values) {
    service.concurrency = expect_count("concurrency", value);
    services.push_back(service);
  }
  return services;
}

}  // namespace roofcast::cli
