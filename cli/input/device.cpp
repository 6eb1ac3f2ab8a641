#include "cli/input/device.hpp"

#include <fmt/format.h>

#include <boost/algorithm/string/case_conv.hpp>

#include "cli/output/files.hpp"
#include "validation/runs/numbers.hpp"

namespace roofcast::cli {
namespace {

bool is_path(std::string_view text) {
  return text.find('/') != std::string_view::npos || text.ends_with(".json");
}

specs::Override read_override(const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0 || equals + 1 == text.size()) {
    throw UsageError("--set takes key=value such as sm_count=144, not '{}'", text);
  }
  std::string value = text.substr(equals + 1);
  // A whole number in any form (1e2) counts as one where the schema asks for an integer.
  const auto number = validation::number_of<double>(value);
  if (const auto whole = number ? whole_of(*number) : std::nullopt) value = std::to_string(*whole);
  return {text.substr(0, equals), std::move(value)};
}

}  // namespace

std::vector<Option> with_device_options(std::vector<Option> own) {
  return joined(
      {std::move(own),
       {{"overlay", "FILE", "apply this calibration instead of the one shipped for the GPU"},
        {"datasheet", "", "apply no calibration: datasheet values alone"},
        {"relative", "GPU",
         "instead of a calibration take what this measured GPU keeps up, scaled by the datasheets"},
        {"set", "KEY=VALUE", "override one value of the specification (repeatable)", true}}});
}

DeviceOptions read_device_options(const Options& options) {
  DeviceOptions device;
  device.overlay_file = options.get("overlay", "");
  device.datasheet = options.has("datasheet");
  device.relative = options.get("relative", "");
  const int chosen =
      int{options.has("overlay")} + int{device.datasheet} + int{options.has("relative")};
  if (chosen > 1) {
    throw UsageError(
        "--overlay applies a calibration, --relative that of another GPU and --datasheet none: "
        "choose one");
  }
  if (options.has("relative")) {
    boost::algorithm::to_lower(device.relative);
    // Only unknown names are refused here; load_device refuses a GPU that was not measured and says
    // why.
    if (specs::find_embedded(device.relative) == nullptr) {
      one_of("--relative", device.relative, measured_device_names());
    }
  }
  std::vector<std::string> keys;
  for (const std::string& text : options.all("set")) {
    device.overrides.push_back(read_override(text));
    keys.push_back(device.overrides.back().key);
  }
  (void)distinct("--set", std::move(keys));
  return device;
}

std::vector<std::string> distinct_devices(std::string_view what, std::vector<std::string> names) {
  for (std::string& name : names) {
    if (const specs::Embedded* known = specs::find_embedded(name)) name = known->name;
  }
  return distinct(what, std::move(names));
}

std::vector<std::string> read_device_names(const Options& options) {
  std::vector<std::string> names;
  for (const std::string& list : options.all("gpu")) {
    for (std::string& name : split_list(list, ',')) names.push_back(std::move(name));
  }
  names = distinct_devices("--gpu", std::move(names));
  if (names.empty()) {
    throw UsageError("--gpu is missing. It takes the path of a specification or one of {}",
                     fmt::join(device_names(), ", "));
  }
  return names;
}

std::string read_device_name(const Options& options) {
  const std::vector<std::string> names = read_device_names(options);
  if (names.size() == 1) return names.front();
  throw UsageError("--gpu names {} devices ({}), and this is about one: ask for each in turn",
                   names.size(), fmt::join(names, ", "));
}

specs::Source device_source(const std::string& name_or_path, const DeviceOptions& options) {
  specs::Source source;
  if (const specs::Embedded* known = specs::find_embedded(name_or_path)) {
    source = specs::shipped_source(*known);
    if (options.datasheet || !options.relative.empty()) {
      source.overlay_file.clear();
      source.overlay_text.clear();
    }
  } else if (is_path(name_or_path)) {
    source.file = name_or_path;
    source.text = read_file(name_or_path);
  } else {
    throw UsageError(
        "{} `roofcast gpus` lists them; a path to a specification (NAME.json) works too",
        no_such_device(name_or_path));
  }
  source.overrides = options.overrides;
  source.datasheet_only = options.datasheet;
  source.relative = options.relative;
  if (!options.overlay_file.empty()) {
    source.overlay_file = options.overlay_file;
    source.overlay_text = read_file(options.overlay_file);
  }
  return source;
}

Gpu load_device(const std::string& name_or_path, const DeviceOptions& options) {
  return specs::load(device_source(name_or_path, options));
}

Gpu read_device(const Options& options) {
  return load_device(read_device_name(options), read_device_options(options));
}

std::vector<Gpu> read_devices(const Options& options) {
  const DeviceOptions device = read_device_options(options);
  std::vector<Gpu> gpus;
  for (const std::string& name : read_device_names(options)) {
    gpus.push_back(load_device(name, device));
  }
  return gpus;
}

std::string device_of_run(const std::string& file, const validation::Run& run,
                          const Options& options) {
  if (options.has("gpu")) return read_device_name(options);
  if (specs::find_embedded(run.device.gpu) != nullptr) return run.device.gpu;
  throw specs::SpecError(
      file, "/device/gpu",
      fmt::format("a GPU that `roofcast gpus` lists, found \"{}\"", run.device.gpu),
      "correct it, or give its specification with --gpu");
}

}  // namespace roofcast::cli
