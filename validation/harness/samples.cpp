#include "validation/harness/samples.hpp"

#include <benchmark/benchmark.h>

#include <exception>
#include <stdexcept>

#include "validation/harness/interrupt.hpp"

namespace roofcast::harness {
namespace {

/// Prints nothing and keeps the error. Needed because Google Benchmark 1.7.1 tells only its
/// reporter of a skipped benchmark, and because standard output carries data here.
class SilentReporter : public benchmark::BenchmarkReporter {
 public:
  bool ReportContext(const Context& /*context*/) override { return true; }
  void ReportRuns(const std::vector<Run>& runs) override {
    for (const Run& run : runs) {
      ++runs_;
      if (run.error_occurred) error_ = run.error_message;
    }
  }
  std::size_t runs() const { return runs_; }
  const std::string& error() const { return error_; }

 private:
  std::size_t runs_ = 0;
  std::string error_;
};

void initialize_once() {
  static const bool done = [] {
    std::string program = "roofcast";
    char* arguments[] = {program.data(), nullptr};
    int count = 1;
    benchmark::Initialize(&count, arguments);
    return true;
  }();
  (void)done;
}

}  // namespace

std::vector<double> take_samples(const std::string& name, std::int64_t count,
                                 const std::function<double()>& sample) {
  initialize_once();
  std::vector<double> samples;
  std::exception_ptr thrown;
  benchmark::RegisterBenchmark(name.c_str(),
                               [&](benchmark::State& state) {
                                 for ([[maybe_unused]] auto iteration : state) {
                                   try {
                                     stop_if_raised();
                                     samples.push_back(sample());
                                     state.SetIterationTime(samples.back());
                                   } catch (const std::exception& error) {
                                     thrown = std::current_exception();
                                     state.SkipWithError(error.what());
                                     break;
                                   }
                                 }
                               })
      ->Iterations(count)
      ->UseManualTime();  // manual time has no wall-clock limit: the count is fixed
  SilentReporter reporter;
  benchmark::RunSpecifiedBenchmarks(&reporter, ".");
  benchmark::ClearRegisteredBenchmarks();
  if (thrown) std::rethrow_exception(thrown);
  if (!reporter.error().empty()) throw std::runtime_error(reporter.error());
  if (reporter.runs() != 1) throw std::logic_error("Google Benchmark did not run " + name);
  return samples;
}

}  // namespace roofcast::harness
