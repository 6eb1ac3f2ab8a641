#include "cli/explorer/read_query.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "architectures/loader.hpp"
#include "cli/input/task.hpp"
#include "hw_specs/kernel_file.hpp"
#include "model/types/parameter_text.hpp"

namespace roofcast::cli {
namespace {

std::string text_of(const ExplorerJson& query, const char* key) {
  const auto found = query.find(key);
  if (found == query.end() || !found->is_string()) {
    throw InputError(fmt::format("'{}' is missing or no text", key));
  }
  return found->get<std::string>();
}

CacheState cache_of(const ExplorerJson& query) {
  if (!query.contains("cache")) return CacheState::cold;
  const std::string text = text_of(query, "cache");
  for (const CacheState cache : kCacheStates) {
    if (name(cache) == text) return cache;
  }
  throw InputError(
      fmt::format("the cache state is cold, warm, steady or repeated, not '{}'", text));
}

DType dtype_of(const ExplorerJson& query, const KernelRef& kernel) {
  const auto types = kernel.dtypes();
  if (!query.contains("dtype")) {
    const auto fp32 = std::find(types.begin(), types.end(), DType::fp32);
    return fp32 != types.end() ? *fp32 : types.front();
  }
  const std::string text = text_of(query, "dtype");
  if (const auto type = parse_dtype(text)) return *type;
  throw InputError(fmt::format("there is no element type '{}'", text));
}

void read_parameter(const Parameter& parameter, const ExplorerJson& value, Problem& problem,
                    std::size_t position) {
  if (is_named(parameter)) {
    if (!value.is_string()) {
      throw InputError(
          fmt::format("'{}' takes a string: {}", parameter.name, allowed_text(parameter)));
    }
    return set_named_value(parameter, problem, position, value.get<std::string>());
  }
  if (!value.is_number_integer()) {
    throw InputError(fmt::format("'{}' takes a whole number", parameter.name));
  }
  problem[position] = value.get<std::int64_t>();
}

Problem problem_of(const ExplorerJson& query, const KernelRef& kernel) {
  Problem problem;
  problem.dtype = dtype_of(query, kernel);
  unsigned given = 0;
  const auto parameters = kernel.parameters();
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const auto found = query.find(std::string(parameters[i].name));
    if (found == query.end()) continue;
    read_parameter(parameters[i], *found, problem, i);
    given |= 1U << i;
  }
  check(kernel, problem, given);
  return problem;
}

std::vector<specs::Override> overrides_of(const ExplorerJson& query) {
  std::vector<specs::Override> overrides;
  if (!query.contains("set")) return overrides;
  if (!query["set"].is_object()) throw InputError("'set' takes {key: value}");
  for (const auto& [key, value] : query["set"].items()) {
    if (!value.is_number()) throw InputError(fmt::format("'{}' takes a number", key));
    overrides.push_back({key, value.dump()});
  }
  return overrides;
}

KernelRef kernel_of(const ExplorerJson& query) {
  const auto found = query.find("kernel");
  if (found != query.end() && found->is_object()) {
    return specs::load_kernel(kPastedKernel, found->dump());
  }
  return find_kernel(text_of(query, "kernel"));
}

}  // namespace

const Gpu& ExplorerDevices::of(const ExplorerJson& query) {
  constexpr std::size_t kMost = 64;
  const auto given = query.find("gpu");
  const bool pasted = given != query.end() && given->is_object();
  specs::Source source;
  if (pasted) {
    source.file = kPastedGpu;
    source.text = given->dump();
  } else {
    source = specs::shipped_source(text_of(query, "gpu"));
  }
  source.overrides = overrides_of(query);
  std::string key = pasted ? source.text : source.file;
  for (const specs::Override& one : source.overrides) key += '\n' + one.key + '=' + one.value;
  if (const auto found = loaded_.find(key); found != loaded_.end()) return found->second;
  Gpu gpu = specs::load(source);
  if (loaded_.size() >= kMost) loaded_.clear();
  return loaded_.emplace(std::move(key), std::move(gpu)).first->second;
}

bool asks_for_model(const ExplorerJson& query) {
  return query.is_object() && query.contains("model");
}

ExplorerQuery read_explorer_query(const ExplorerJson& query, ExplorerDevices& devices) {
  if (!query.is_object()) throw InputError("a query is a JSON object");
  ExplorerQuery read;
  read.kernel = kernel_of(query);
  read.gpu = devices.of(query);
  read.problem = problem_of(query, read.kernel);
  read.assumptions.cache = cache_of(query);
  return read;
}

ExplorerModelQuery read_model_query(const ExplorerJson& query, ExplorerDevices& devices) {
  ExplorerModelQuery read;
  const ExplorerJson& model = query.at("model");
  if (model.is_object()) {
    read.name = "config.json";
    read.architecture = architectures::load(kPastedModel, model.dump());
  } else {
    read.name = text_of(query, "model");
    read.architecture = shipped_model(read.name);
  }
  read.gpu = devices.of(query);
  ExplorerJson asked = query;
  for (const char* key : {"model", "gpu", "set"}) asked.erase(key);
  Query fields;
  const std::string line = asked.dump();
  fields.read(line);
  for (const QueryField& field : fields) read_task_field(field, read.task);
  check_given(read.task);
  return read;
}

}  // namespace roofcast::cli
