#include "validation/harness/harness.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <nlohmann/json.hpp>
#include <utility>

#include "kernels/common/error.hpp"
#include "model/predict.hpp"
#include "validation/counters/cupti.hpp"
#include "validation/harness/bench.hpp"
#include "validation/harness/interrupt.hpp"
#include "validation/runs/problem_text.hpp"
#include "validation/runs/replacement.hpp"
#include "validation/runs/run_file.hpp"

namespace roofcast::validation {
namespace {

using harness::Bench;
using harness::CounterSession;

/// The forecast at the time of measurement, so that an old run shows how the model has changed.
std::string forecast_json(const Case& item, const Gpu& gpu) {
  try {
    const Prediction p =
        predict(find_kernel(item.kernel), item.problem, gpu, {item.cache, {}, kQueueNeverEmpty});
    nlohmann::json out = {{"limit_s", p.limit.time_s},
                          {"dram_bytes", p.work.dram.total_bytes()},
                          {"l2_bytes", p.work.l2.total_bytes()},
                          {"vector_flops", p.work.vector_flops}};
    if (p.time) {
      out["expected_s"] = p.time->expected_s;
      out["low_s"] = p.time->low_s;
      out["high_s"] = p.time->high_s;
      out["bound"] = name(binding(p.time->terms));
    }
    if (p.occupancy) out["blocks_per_sm"] = p.occupancy->blocks_per_sm;
    if (p.waves) out["waves"] = p.waves->count;
    return out.dump();
  } catch (const InputError&) {
    return {};
  }
}

/// The case as it is filed, with the settings that roofcast::as_measured chooses. A case that it
/// refuses stays as it is, so that its failure is recorded.
SuiteCase as_measured(SuiteCase one, const Gpu& gpu) {
  try {
    one.problem = roofcast::as_measured(find_kernel(one.kernel), one.problem, gpu);
  } catch (const InputError&) {
  }
  return one;
}

std::string label_of(const std::string& kernel, const Problem& problem) {
  return fmt::format("{} {}", kernel, problem_text(kernel, problem));
}

/// After an illegal access every later call on the context fails as well.
bool context_is_lost() {
  return cudaDeviceSynchronize() != cudaSuccess;
}

/// Reports progress and the time left, estimated from the share of the weight that is done.
class Meter {
 public:
  Meter(const HarnessOptions& options, const Gpu& gpu) : options_(options), gpu_(gpu) {}

  void expect(const std::string& kernel, const Problem& problem) {
    weight_left_ += weight(kernel, problem);
    ++total_;
  }
  void begin(const std::string& kernel, const Problem& problem) const {
    if (!options_.progress) return;
    const double elapsed =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
    std::optional<double> remaining;
    if (weight_done_ > 0) remaining = elapsed / weight_done_ * weight_left_;
    options_.progress({done_, total_, label_of(kernel, problem), remaining});
  }
  void end(const std::string& kernel, const Problem& problem) {
    const double weight_of_it = weight(kernel, problem);
    weight_left_ -= weight_of_it;
    weight_done_ += weight_of_it;
    ++done_;
  }
  void finish() const {
    if (options_.progress) options_.progress({done_, total_, "", 0.0});
  }

 private:
  /// Rough cost of a case (s): set-up and a dozen launches.
  double weight(const std::string& kernel, const Problem& problem) const {
    try {
      const Prediction p = predict(find_kernel(kernel), problem, gpu_);
      return 0.3 + 12 * (p.time ? p.time->expected_s : 0);
    } catch (const InputError&) {
      return 0.3;
    }
  }

  const HarnessOptions& options_;
  const Gpu& gpu_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  double weight_left_ = 0;
  double weight_done_ = 0;
  std::size_t done_ = 0;
  std::size_t total_ = 0;
};

class Sweep {
 public:
  Sweep(const Suite& suite, const Gpu& gpu, const HarnessOptions& options)
      : gpu_(gpu), options_(options), lock_(options.output), meter_(options, gpu) {
    Run fresh;
    fresh.suite = suite.name;
    fresh.seed = suite.seed;
    fresh.suite_cases = static_cast<std::int64_t>(suite.cases.size());
    fresh.shard = options.shard;
    fresh.date = fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)));
    fresh.build = options.build;
    fresh.device = harness::device_record(gpu.name);
    result_.run = resume_run(options.output, fresh);
    for (std::size_t i = 0; i < suite.cases.size(); ++i) {
      if (options.shard.holds(i)) mine_.push_back(as_measured(suite.cases[i], gpu));
    }
  }

  HarnessResult run() {
    Bench bench(harness::device_in_use(), options_.notice);
    std::vector<SuiteCase> missing;
    for (const SuiteCase& wanted : mine_) {
      if (settled(wanted)) {
        ++result_.resumed;
      } else {
        missing.push_back(wanted);
        meter_.expect(wanted.kernel, wanted.problem);
      }
    }
    if (options_.counters) {
      for (const SuiteCase& wanted : mine_) {
        if (needs_counters(wanted)) meter_.expect(wanted.kernel, wanted.problem);
      }
    }
    try {
      for (const SuiteCase& wanted : missing) {
        harness::stop_if_raised();
        time(bench, wanted);
      }
      if (options_.counters) count_all(bench);
    } catch (const harness::Stopped&) {
    }
    result_.stopped_by = interrupt_.raised();
    if (!result_.stopped_by) meter_.finish();
    return std::move(result_);
  }

 private:
  /// Whether the file, which is of this build and device, holds the case as measured or failed.
  bool settled(const SuiteCase& wanted) {
    return find_case(result_.run, wanted) != nullptr || failed(result_.run, wanted);
  }

  bool needs_counters(const SuiteCase& wanted) {
    if (failed(result_.run, wanted)) return false;
    const Case* item = find_case(result_.run, wanted);
    return item == nullptr || !item->counters.sm_cycles;
  }

  void save() const { write_run(options_.output, result_.run); }

  void time(Bench& bench, const SuiteCase& wanted) {
    meter_.begin(wanted.kernel, wanted.problem);
    try {
      Case item = bench.time(wanted, gpu_);
      item.prediction_json = forecast_json(item, gpu_);
      item.position = wanted.position;
      result_.run.cases.push_back(std::move(item));
      ++result_.measured;
    } catch (const InputError&) {
      throw;
    } catch (const std::runtime_error& error) {
      result_.run.failures.push_back(
          {wanted.kernel, wanted.problem, error.what(), wanted.position});
      save();
      if (context_is_lost()) {
        throw std::runtime_error(
            fmt::format("{} broke the CUDA context: {}. Run the same command again: it goes on "
                        "with the next case.",
                        label_of(wanted.kernel, wanted.problem), error.what()));
      }
    }
    save();
    meter_.end(wanted.kernel, wanted.problem);
  }

  /// Counts after all timing, since an enabled profiler may change how the device behaves.
  void count_all(Bench& bench) {
    std::optional<CounterSession> session;
    for (const SuiteCase& wanted : mine_) {
      if (!needs_counters(wanted)) continue;
      harness::stop_if_raised();
      Case* item = find_case(result_.run, wanted);
      if (item == nullptr) continue;
      meter_.begin(item->kernel, item->problem);
      try {
        if (!session) open(session);
        item->counters = bench.count(*item, *session);
      } catch (const harness::NoCounters& error) {
        notice(fmt::format("no hardware counters: {}; the times stand without them", error.what()));
        return;
      }
      save();
      meter_.end(item->kernel, item->problem);
    }
  }

  void open(std::optional<CounterSession>& session) const {
    session.emplace();
    if (session->missing().empty()) return;
    notice(fmt::format("this chip has no {}", fmt::join(session->missing(), ", ")));
  }

  void notice(const std::string& text) const {
    if (options_.notice) options_.notice(text);
  }

  const Gpu& gpu_;
  const HarnessOptions& options_;
  WriteLock lock_;
  HarnessResult result_;
  std::vector<SuiteCase> mine_;
  Meter meter_;
  harness::InterruptGuard interrupt_;
};

}  // namespace

HarnessResult run_suite(const Suite& suite, const Gpu& gpu, const HarnessOptions& options) {
  (void)harness::device_facts();  // throws where there is no device
  return Sweep(suite, gpu, options).run();
}

}  // namespace roofcast::validation
