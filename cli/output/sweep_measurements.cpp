#include "cli/output/sweep_measurements.hpp"

#include <fmt/format.h>

#include "cli/output/answer.hpp"
#include "cli/output/files.hpp"
#include "cli/output/terminal.hpp"
#include "model/predict.hpp"
#include "validation/runs/problem_text.hpp"

namespace roofcast::cli {
namespace {

// The settings of a library are what it is taken to choose: no measurement knows them.
std::string key(std::string_view kernel, Problem problem) {
  if (kernel.ends_with(".library")) {
    std::size_t i = 0;
    for (const Parameter& parameter : find_kernel(kernel).parameters()) {
      if (parameter.configures) problem[i] = kToChoose;
      ++i;
    }
  }
  return fmt::format("{} {}", kernel, validation::problem_text(kernel, problem));
}

}  // namespace

Measurements::Measurements(const Options& options) : cache_given_(options.has("cache")) {
  const auto path = options.find("run");
  if (!path) return;
  run_ = validation::parse_run(*path, read_file(*path));
  path_ = *path;
  for (const validation::Case& item : run_.cases) {
    cases_[key(item.kernel, item.problem)].push_back(&item);
  }
}

const validation::Case* Measurements::find(const KernelRef& kernel, const Problem& problem,
                                           const Gpu& gpu, CacheState& cache) {
  if (run_.device.gpu != gpu.name) return nullptr;
  // A run holds the settings that the harness took, which the model chose, but for a library's own.
  const auto found = cases_.find(key(kernel_name(kernel), as_measured(kernel, problem, gpu)));
  if (found == cases_.end()) return nullptr;
  for (const validation::Case* item : found->second) {
    if (cache_given_ && item->cache != cache) continue;
    cache = item->cache;
    ++found_;
    return item;
  }
  return nullptr;
}

void Measurements::warn_if_none() const {
  if (path_.empty() || found_ > 0) return;
  warn(fmt::format("{} ({}) measured none of these points", path_, run_.device.gpu));
}

}  // namespace roofcast::cli
