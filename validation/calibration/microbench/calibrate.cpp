#include "validation/calibration/microbench/calibrate.hpp"

#include <fmt/chrono.h>

#include <ctime>

#include "validation/calibration/microbench/lab.hpp"
#include "validation/calibration/microbench/microbench.hpp"
#include "validation/harness/device_record.hpp"

namespace roofcast::validation {

Measurements run_microbenchmarks(const CalibrateOptions& options) {
  (void)harness::device_facts();  // throws where there is no device
  Measurements out;
  out.date = fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)));
  out.build = options.build;
  out.device = harness::device_record(options.gpu);
  microbench::Lab lab;
  const auto table = microbench::microbenches();
  std::size_t done = 0;
  for (const microbench::Microbench& one : table) {
    if (options.progress) options.progress(done++, table.size(), one.what);
    for (Curve& curve : one.run(lab)) out.curves.push_back(std::move(curve));
  }
  if (options.progress) options.progress(done, table.size(), "done");
  return out;
}

}  // namespace roofcast::validation
