#pragma once
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "hw_specs/loader.hpp"
#include "model/roofcast.hpp"
#include "model/transformer/task.hpp"

namespace roofcast::cli {

using ExplorerJson = nlohmann::ordered_json;

/// Devices already loaded: checking a specification takes longer than a forecast.
class ExplorerDevices {
 public:
  /// The device that a query's "gpu" and "set" say: a shipped name, or a specification as an
  /// object.
  const Gpu& of(const ExplorerJson& query);

 private:
  std::map<std::string, Gpu, std::less<>> loaded_;
};

/// One setting of the explorer that asks for a kernel.
struct ExplorerQuery {
  KernelRef kernel;
  Problem problem;
  Gpu gpu;
  Assumptions assumptions;
};

/// One that asks for a step of a model.
struct ExplorerModelQuery {
  std::string name;
  transformer::Architecture architecture;
  transformer::Task task;
  Gpu gpu;
};

/// A shipped specification with its calibration, as `--gpu` takes it. InputError for another name.
specs::Source shipped_source(std::string_view gpu);

/// Where a text is pasted in place of a file, this stands for its name in errors.
inline constexpr const char* kPastedGpu = "the specification";
inline constexpr const char* kPastedKernel = "the kernel file";
inline constexpr const char* kPastedModel = "the config.json";

bool asks_for_model(const ExplorerJson& query);

/// A checked query. Members: kernel (a name, or a kernel file as an object), gpu, dtype, cache,
/// set, and the kernel's parameters. Throws InputError naming what is wrong.
ExplorerQuery read_explorer_query(const ExplorerJson& query, ExplorerDevices& devices);

/// Members: model (a name, or a config.json as an object), gpu, set, and what a line of `predict
/// --queries` takes for a model. Throws InputError.
ExplorerModelQuery read_model_query(const ExplorerJson& query, ExplorerDevices& devices);

}  // namespace roofcast::cli
