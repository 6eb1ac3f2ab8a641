#pragma once
// Measurements of a run at the points of a sweep.
#include <map>
#include <string>
#include <vector>

#include "cli/input/options.hpp"
#include "model/roofcast.hpp"
#include "validation/runs/run.hpp"

namespace roofcast::cli {

/// The measured cases of --run, by kernel and problem; none without it.
class Measurements {
 public:
  explicit Measurements(const Options& options);

  /// The measured case of the problem, or null. `cache` becomes the state in which it was measured;
  /// with --cache, only cases in `cache` are found.
  const validation::Case* find(const KernelRef& kernel, const Problem& problem, const Gpu& gpu,
                               CacheState& cache);

  /// Whether points without a measurement are forecast in the cache state in which a run would
  /// measure them: with --run and without --cache.
  bool chooses_cache() const { return !path_.empty() && !cache_given_; }

  void warn_if_none() const;

 private:
  bool cache_given_;
  std::string path_;
  validation::Run run_;
  std::map<std::string, std::vector<const validation::Case*>> cases_;
  std::size_t found_ = 0;
};

}  // namespace roofcast::cli
