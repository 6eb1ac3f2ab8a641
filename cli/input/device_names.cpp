#include "cli/input/device_names.hpp"

#include <fmt/format.h>

#include <boost/algorithm/string/case_conv.hpp>

#include "hw_specs/loader.hpp"
#include "hw_specs/relative.hpp"
#include "model/types/did_you_mean.hpp"

namespace roofcast::cli {
namespace {

std::string_view family(std::string_view name) {
  return name.substr(0, name.find('-'));
}

template <class Wanted>
std::vector<std::string_view> devices_that(const Wanted& wanted) {
  std::vector<std::string_view> found = device_names();
  std::erase_if(found, [&wanted](std::string_view name) { return !wanted(name); });
  return found;
}

}  // namespace

std::vector<std::string_view> device_names() {
  std::vector<std::string_view> names;
  for (const specs::Embedded& known : specs::embedded()) names.push_back(known.name);
  return names;
}

std::vector<std::string_view> measured_device_names() {
  std::vector<std::string_view> names;
  for (const Gpu& gpu : specs::measured_gpus()) names.push_back(gpu.name);
  return names;
}

std::vector<std::string_view> devices_like(std::string_view typed) {
  const std::string lower = boost::algorithm::to_lower_copy(std::string(typed));
  if (lower.empty()) return {};
  auto found = devices_that([&](std::string_view name) { return name.starts_with(lower); });
  if (!found.empty()) return found;
  found = devices_that([&](std::string_view name) { return family(name) == family(lower); });
  if (!found.empty()) return found;
  const std::string_view nearest = closest(lower, device_names());
  if (!nearest.empty()) found.push_back(nearest);
  return found;
}

std::string no_such_device(std::string_view typed) {
  std::string text = fmt::format("no GPU is named '{}'.", typed);
  std::string_view separator = " Did you mean ";
  for (const std::string_view name : devices_like(typed)) {
    text += fmt::format("{}'{}'", separator, name);
    separator = " or ";
  }
  if (separator == " or ") text += '?';
  return text;
}

}  // namespace roofcast::cli
