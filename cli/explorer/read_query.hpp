#pragma once
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "hw_specs/loader.hpp"
#include "model/roofcast.hpp"
#include "model/transformer/task.hpp"

namespace roofcast::cli {

using ExplorerJson = nlohmann::ordered_json;

/// Keeps loaded devices: validating a specification takes longer than a forecast.
class ExplorerDevices {
 public:
  /// The device of a query: "gpu" is a shipped name or a specification as an object, "set"
  /// overrides its values. The reference is valid until the next call.
  const Gpu& of(const ExplorerJson& query);

 private:
  std::map<std::string, Gpu, std::less<>> loaded_;
};

/// A query for a kernel, read and checked.
struct ExplorerQuery {
  KernelRef kernel;
  Problem problem;
  Gpu gpu;
  Assumptions assumptions;
};

/// A query for a step of a model, read and checked.
struct ExplorerModelQuery {
  std::string name;
  transformer::Architecture architecture;
  transformer::Task task;
  Gpu gpu;
};

/// Names in error messages of texts that were pasted and have no file name.
inline constexpr const char* kPastedGpu = "the specification";
inline constexpr const char* kPastedKernel = "the kernel file";
inline constexpr const char* kPastedModel = "the config.json";

bool asks_for_model(const ExplorerJson& query);

/// Reads and checks a query. Members: kernel (a name, or a kernel file as an object), gpu, dtype,
/// cache, set, and the kernel's parameters. Throws InputError naming what is wrong.
ExplorerQuery read_explorer_query(const ExplorerJson& query, ExplorerDevices& devices);

/// Reads and checks a query for a model. Members: model (a name, or a config.json as an object),
/// gpu, set, and the other members of a `predict --queries` line for a model. Throws InputError.
ExplorerModelQuery read_model_query(const ExplorerJson& query, ExplorerDevices& devices);

}  // namespace roofcast::cli
