#pragma once
// From what the command line says about a device to the device.
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

std::vector<Option> device_option_table();
DeviceOptions read_device_options(const Options& options);

/// The names of --gpu: repeated, or parted by commas. UsageError if there is none.
std::vector<std::string> read_device_names(const Options& options);
/// Of a command that is about one device. Throws UsageError where --gpu names several.
std::string read_device_name(const Options& options);

/// A name in any case of letters, or the path of a specification. UsageError with the names that
/// are near for an unknown one.
specs::Source device_source(const std::string& name_or_path, const DeviceOptions& options);
Gpu load_device(const std::string& name_or_path, const DeviceOptions& options);

/// The GPU to forecast a run file's cases for: --gpu, else the run's own. Throws InputError where
/// that is none of the program's: what a file says is never taken for a path.
std::string device_of_run(const std::string& file, const validation::Run& run,
                          const Options& options);

}  // namespace roofcast::cli
