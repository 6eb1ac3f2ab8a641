#pragma once
// Options about a table of measurements, and the devices that its rows name.
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cli/input/device.hpp"
#include "cli/input/options.hpp"
#include "validation/comparison/table.hpp"

namespace roofcast::cli {

/// Devices by name, each loaded once.
class Devices {
 public:
  explicit Devices(DeviceOptions options) : options_(std::move(options)) {}

  const Gpu& get(const std::string& name);
  /// Null for a name that is neither loaded nor that of a shipped device.
  const Gpu* find(std::string_view name);
  /// Makes the device known by its own name too, since --gpu may have loaded it from a path.
  void alias(const Gpu& gpu) { loaded_[gpu.name] = std::make_unique<Gpu>(gpu); }

 private:
  DeviceOptions options_;
  std::map<std::string, std::unique_ptr<Gpu>> loaded_;
};

/// --kernel, --dtype, --where, --column and --cache.
std::vector<Option> table_options();

/// Reads these options and --gpu, whose device it loads. UsageError for a --column of a parameter
/// that no kernel has.
validation::TableQuery read_table_query(const Options& options, Devices& devices);

}  // namespace roofcast::cli
