#include "cli/output/sweep_measurements.hpp"

#include <fmt/format.h>

#include "cli/output/answer.hpp"
#include "cli/output/files.hpp"
#include "cli/output/terminal.hpp"
#include "model/predict.hpp"
#include "validation/runs/problem_text.hpp"

namespace roofcast::cli {
namespace {

// Settings are not part of the key: a run has those that the model chose when it was measured.
std::string key(const KernelRef& kernel, Problem problem) {
  std::size_t i = 0;
  for (const Parameter& parameter : kernel.parameters()) {
    if (parameter.configures) problem[i] = kToChoose;
    ++i;
  }
  const std::string_view name = kernel.name();
  return fmt::format("{} {}", name, validation::problem_text(name, problem));
}

// Whether the case has the settings asked for. Settings left open match any; a library's kernel
// matches always, since a measurement does not show which settings the library took.
bool has_settings_of(const KernelRef& kernel, const Problem& measured, const Problem& asked) {
  if (kernel.name().ends_with(".library")) return true;
  std::size_t i = 0;
  for (const Parameter& parameter : kernel.parameters()) {
    if (parameter.configures && asked[i] != kToChoose && measured[i] != asked[i]) return false;
    ++i;
  }
  return true;
}

}  // namespace

Measurements::Measurements(const Options& options) : cache_given_(options.has("cache")) {
  const auto path = options.find("run");
  if (!path) return;
  run_ = validation::parse_run(*path, read_file(*path));
  path_ = *path;
  for (const validation::Case& item : run_.cases) {
    cases_[key(find_kernel(item.kernel), item.problem)].push_back(&item);
  }
}

const validation::Case* Measurements::find(const KernelRef& kernel, const Problem& problem,
                                           const Gpu& gpu, CacheState& cache) {
  if (run_.device.gpu != gpu.name) return nullptr;
  const auto found = cases_.find(key(kernel, problem));
  if (found == cases_.end()) return nullptr;
  const validation::Case* best = nullptr;
  for (const validation::Case* item : found->second) {
    if (cache_given_ && item->cache != cache) continue;
    if (!has_settings_of(kernel, item->problem, problem)) continue;
    // Of several cases, the one with the settings that the model would choose now.
    if (best == nullptr || item->problem == as_measured(kernel, problem, gpu)) best = item;
  }
  if (best == nullptr) return nullptr;
  cache = best->cache;
  ++found_;
  return best;
}

void Measurements::warn_if_none() const {
  if (path_.empty() || found_ > 0) return;
  warn(fmt::format("{} ({}) measured none of these points", path_, run_.device.gpu));
}

}  // namespace roofcast::cli
