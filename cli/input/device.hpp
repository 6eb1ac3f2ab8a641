#pragma once
// Reads the options about devices and loads the devices.
#include <string>
#include <string_view>
#include <vector>

#include "cli/input/device_names.hpp"
#include "cli/input/options.hpp"
#include "hw_specs/loader.hpp"
#include "model/types/gpu.hpp"
#include "validation/runs/run.hpp"

namespace roofcast::cli {

/// --overlay, --datasheet, --relative and --set: the same for every device of a command.
struct DeviceOptions {
  std::string overlay_file;  ///< empty: the calibration shipped with the device
  bool datasheet = false;    ///< no calibration at all
  std::string relative;      ///< this measured GPU's values instead of the device's own calibration
  std::vector<specs::Override> overrides;
};

/// A command's own options, then those about devices.
std::vector<Option> with_device_options(std::vector<Option> own);
DeviceOptions read_device_options(const Options& options);

/// The names or paths, shipped devices as their files spell them. UsageError where `what` names one
/// twice.
std::vector<std::string> distinct_devices(std::string_view what, std::vector<std::string> names);
/// The names or paths of --gpu, which may be repeated or a comma-separated list. UsageError if
/// there is none, and as distinct_devices.
std::vector<std::string> read_device_names(const Options& options);
/// The one name of --gpu. UsageError if there is none or several.
std::string read_device_name(const Options& options);

/// The specification of a name, whose case does not matter, or of a path. UsageError, with similar
/// names, for an unknown name.
specs::Source device_source(const std::string& name_or_path, const DeviceOptions& options);
Gpu load_device(const std::string& name_or_path, const DeviceOptions& options);
/// The one device of --gpu, as the other options change it.
Gpu read_device(const Options& options);
/// Every device of --gpu, as the other options change them.
std::vector<Gpu> read_devices(const Options& options);

/// The GPU to forecast a run file's cases for: --gpu, else the run's own. Throws InputError where
/// the run's GPU is no shipped one: a name out of a file is never taken for a path.
std::string device_of_run(const std::string& file, const validation::Run& run,
                          const Options& options);

}  // namespace roofcast::cli
