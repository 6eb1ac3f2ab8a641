#pragma once
#include <nlohmann/json.hpp>
#include <string>

#include "hw_specs/loader.hpp"
#include "model/roofcast.hpp"

namespace roofcast::cli {

using ExplorerJson = nlohmann::ordered_json;

/// One setting of the explorer.
struct ExplorerQuery {
  KernelRef kernel;
  Problem problem;
  Gpu gpu;
  Assumptions assumptions;
};

/// A shipped specification with its calibration, as `--gpu` takes it. InputError for another name.
specs::Source shipped_source(std::string_view gpu);

/// A checked query. Members: kernel, gpu, dtype, cache, set, and the kernel's parameters. Throws
/// InputError naming what is wrong.
ExplorerQuery read_explorer_query(const ExplorerJson& query);

}  // namespace roofcast::cli
