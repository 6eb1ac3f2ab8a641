#include "cli/input/table_query.hpp"

#include <fmt/format.h>

#include "cli/input/kernel_options.hpp"

namespace roofcast::cli {
namespace {

/// The kernel of --kernel; without it every kernel, since each row names its own.
std::vector<KernelRef> table_kernels(const Options& options) {
  if (const auto name = options.find("kernel")) return {kernel_named(*name)};
  std::vector<KernelRef> all;
  for (const KernelFamily& family : catalog()) {
    for (const KernelModel& kernel : family.variants) all.push_back({&family, &kernel});
  }
  return all;
}

}  // namespace

const Gpu& Devices::get(const std::string& name) {
  auto& slot = loaded_[name];
  if (!slot) slot = std::make_unique<Gpu>(load_device(name, options_));
  return *slot;
}

const Gpu* Devices::find(std::string_view name) {
  const auto known = loaded_.find(std::string(name));
  if (known != loaded_.end() && known->second) return known->second.get();
  return specs::find_embedded(name) == nullptr ? nullptr : &get(std::string(name));
}

std::vector<Option> table_options() {
  return {{"kernel", "KERNEL", "the table's kernel"},
          {"dtype", "TYPE", "element type of all rows, where the table has no column dtype"},
          {"where", "COLUMN=VALUES", "only the table's rows with one of these values (repeatable)",
           true},
          {"column", "PARAMETER=PRODUCT",
           "a parameter from the table's columns: n=rows*cols (repeatable)", true},
          {"cache", "cold|warm|steady|repeated", "how the table was measured (default: steady)"}};
}

validation::TableQuery read_table_query(const Options& options, Devices& devices) {
  validation::TableQuery query;
  query.kernel = options.get("kernel", "");
  const std::vector<std::string> spelled = parameter_names(table_kernels(options));
  const std::vector<std::string_view> parameters(spelled.begin(), spelled.end());
  if (const auto gpu = options.find("gpu")) {
    const Gpu& device = devices.get(*gpu);
    query.gpu = device.name;
    devices.alias(device);
  }
  for (const auto& text : options.all("where")) {
    query.where.push_back(validation::parse_assignment(text));
  }
  std::vector<std::string> given;
  for (const auto& text : options.all("column")) {
    query.set.push_back(validation::parse_assignment(text));
    given.push_back(query.set.back().first);
    one_of(fmt::format("the parameter of --column {}", text), given.back(), parameters);
  }
  (void)distinct("--column", std::move(given));
  if (const auto dtype = options.find("dtype")) query.dtype = parse_element_type(*dtype);
  if (const auto cache = options.find("cache")) query.cache = parse_cache(*cache);
  return query;
}

}  // namespace roofcast::cli
